import { setImmediate } from 'node:timers/promises';

/** Waiters that go on at once. Each further group is twice as large as the one before, up to the largest. */
const FIRST_GROUP = 2;
const LARGEST_GROUP = 64;

/**
 * Lets many who wait for the same thing go on in groups, as they came, with iterations of the event loop in between:
 * work that follows from the first ones isn't kept waiting by all the others, nor is anybody else.
 */
export class InGroups {
  #size = FIRST_GROUP;
  #placesLeft = FIRST_GROUP;
  #turn: Promise<void> | undefined;

  /**
   * Gives each waiter its turn, once the thing that it waits for is there.
   * @returns a promise that resolves when its group goes on; undefined for those that go on at once
   */
  next(): Promise<void> | undefined {
    if (this.#placesLeft === 0) {
      this.#size = Math.min(2 * this.#size, LARGEST_GROUP);
      this.#placesLeft = this.#size;
      this.#turn = (this.#turn ?? setImmediate()).then(pause);
    }
    this.#placesLeft -= 1;
    return this.#turn;
  }
}

/** Waits two iterations: in the first, sockets are read; data written after that waits for its end. */
function pause(): Promise<void> {
  return setImmediate().then(() => setImmediate());
}
