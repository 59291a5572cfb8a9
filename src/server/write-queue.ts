/** Milliseconds that the first of several writes waits for the others, at the most. */
const LONGEST_WAIT_MS = 1;

/**
 * Writes answers that are ready together, at the end of the event loop's iteration. A client on the same machine that
 * was woken for each of them would take turns with the gateway, and waking it costs as much as the write. If an
 * iteration takes long, answers that are ready don't wait for its end.
 */
export class WriteQueue {
  readonly #waiting: (() => void)[] = [];
  #sinceMs = 0;

  /** @param write is called soon, and must not throw */
  add(write: () => void): void {
    const nowMs = performance.now();
    if (this.#waiting.length === 0) {
      this.#sinceMs = nowMs;
      setImmediate(this.#writeAll);
    }
    this.#waiting.push(write);
    if (nowMs - this.#sinceMs > LONGEST_WAIT_MS) this.#writeAll();
  }

  readonly #writeAll = () => {
    for (const write of this.#waiting.splice(0)) write();
  };
}
