/** States that are kept at least, in use or not. */
const LEAST_KEPT = 512;

/**
 * The states under each key, made when a key is first in use. An idle state is kept for its key to come back, mostly a
 * moment later; once there are many, the idle ones are forgotten.
 */
export class KeyedStates<State> {
  readonly #open: (key: string) => State;
  readonly #isIdle: (state: State) => boolean;
  readonly #states = new Map<string, State>();
  /** States beyond which idle ones are looked for: twice as many as were in use, so that the search is cheap. */
  #most = LEAST_KEPT;

  constructor(open: (key: string) => State, isIdle: (state: State) => boolean) {
    this.#open = open;
    this.#isIdle = isIdle;
  }

  of(key: string): State {
    let state = this.#states.get(key);
    if (state === undefined) {
      if (this.#states.size >= this.#most) this.#forgetIdle();
      state = this.#open(key);
      this.#states.set(key, state);
    }
    return state;
  }

  get size(): number {
    return this.#states.size;
  }

  #forgetIdle(): void {
    for (const [key, state] of this.#states) if (this.#isIdle(state)) this.#states.delete(key);
    this.#most = Math.max(LEAST_KEPT, 2 * this.#states.size);
  }
}

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
