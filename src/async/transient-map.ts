/**
 * A map for entries that come and go while the map stays, such as all work that is under way.
 *
 * The engine makes the table behind a long-lived `Map` anew every few entries, and leaves the former one to the next
 * full collection: until then it keeps alive all that it had at that moment, and all that this leads to. Here that is a
 * box, which is emptied when its entry goes.
 */
export class TransientMap<Value> {
  readonly #boxes = new Map<string, { value: Value | undefined }>();

  get(name: string): Value | undefined {
    return this.#boxes.get(name)?.value;
  }

  set(name: string, value: Value): void {
    this.delete(name);
    this.#boxes.set(name, { value });
  }

  delete(name: string): void {
    const box = this.#boxes.get(name);
    if (box === undefined) return;
    box.value = undefined;
    this.#boxes.delete(name);
  }
}
