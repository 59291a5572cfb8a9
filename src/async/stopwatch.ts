/** Measures how long something was waited for, in milliseconds; waits that overlap count once. */
export class Stopwatch {
  readonly #now: () => number;
  #running = 0;
  #sinceMs = 0;
  #totalMs = 0;

  /** @param now milliseconds since any instant */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  begin(): void {
    if (this.#running === 0) this.#sinceMs = this.#now();
    this.#running += 1;
  }

  end(): void {
    this.#running -= 1;
    if (this.#running === 0) this.#totalMs += this.#now() - this.#sinceMs;
  }

  /** Counts the time that a promise takes; anything else takes no time. */
  timing<Value>(value: Value): Value {
    if (!(value instanceof Promise)) return value;
    const end = () => this.end();
    this.begin();
    value.then(end, end);
    return value;
  }

  /** Milliseconds of waits that are over. */
  get totalMs(): number {
    return this.#totalMs;
  }
}
