/** Measures waits; waits that overlap count once. */
export class Stopwatch {
  #running = 0;
  #sinceMs = 0;
  /** Of waits that are over. */
  totalMs = 0;

  /** Counts the time that a promise takes; anything else takes no time. */
  timing<Value>(value: Value): Value {
    if (!(value instanceof Promise)) return value;
    if (this.#running === 0) this.#sinceMs = performance.now();
    this.#running += 1;
    const end = () => {
      this.#running -= 1;
      if (this.#running === 0) this.totalMs += performance.now() - this.#sinceMs;
    };
    value.then(end, end);
    return value;
  }
}
