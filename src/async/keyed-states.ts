/** States that are kept at least, in use or not. */
const LEAST_KEPT = 512;

/**
 * What goes on under each key, made when a key is first in use. A state that is idle is kept for when its key comes back,
 * mostly a moment later; once there are many, those that are idle are forgotten.
 */
export class KeyedStates<State> {
  readonly #open: (key: string) => State;
  readonly #isIdle: (state: State) => boolean;
  readonly #states = new Map<string, State>();
  /** How many there may be before idle ones are looked for: twice as many as were in use, so that to look is cheap. */
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
