import { toError } from 'graphql/jsutils/toError.js';
import { inSlice, type Job, TURN_MS } from '../async/turns.ts';

/**
 * Works off the tasks of one run: those that are there one after the other, with pauses in which others have their
 * turns, and those that wait for promises once they are settled.
 */
export class Scheduler<Task> {
  readonly #job: Job;
  readonly #run: (task: Task) => void;
  readonly #onPause: ((goesOn: Promise<void>) => void) | undefined;
  #tasks: Task[] = [];
  /** Promises that something waits for. */
  #waiting = 0;
  #isPaused = false;
  /** Instant at which others are to have their turns, on the clock of `performance.now`. */
  #pausesAtMs = 0;
  /**
   * Set once a fault has ended it before its time: nobody takes results that are still to come, and nothing more is
   * begun.
   */
  #isEnded = false;
  #over = () => {};
  #broken = (_fault: unknown) => {};

  /** @param onPause called with each pause, so that others may have a turn; its promise settles after the pause */
  constructor(job: Job, run: (task: Task) => void, onPause?: (goesOn: Promise<void>) => void) {
    this.#job = job;
    this.#run = run;
    this.#onPause = onPause;
  }

  add(task: Task): void {
    this.#tasks.push(task);
  }

  /**
   * Works until there is nothing left to do: at once, if nothing has to be waited for.
   * @throws the error of a task
   */
  work(): void | Promise<void> {
    try {
      this.#work();
    } catch (fault) {
      this.#isEnded = true;
      throw fault;
    }
    if (this.#isOver()) return;
    return new Promise<void>((resolve, reject) => {
      this.#over = resolve;
      this.#broken = reject;
    });
  }

  /** True if others are to have their turns before this goes on. */
  isTimeUp(): boolean {
    return performance.now() >= this.#pausesAtMs;
  }

  /** Goes on with a part of a task after others have had their turns. */
  pause(goOn: () => void): void {
    this.#pause(() => {
      this.#pausesAtMs = performance.now() + TURN_MS;
      goOn();
      this.#work();
    });
  }

  /** Goes on with a promise's value, or the error that it was rejected with. */
  wait<Value>(promise: PromiseLike<Value>, goOn: (value: Value | Error) => void): void {
    this.#waiting += 1;
    const settled = (value: Value | Error) => this.#goOn(() => goOn(value));
    promise.then(settled, (error) => settled(toError(error)));
  }

  /** Does long work: at once, or after others have had their turns if it is time for them. */
  inTurn(work: () => void): void {
    if (!this.isTimeUp()) {
      work();
      return;
    }
    this.#waiting += 1;
    this.#inSlice(() => this.#goOn(work));
  }

  /** Goes on once none of the values is a promise any longer; errors stand for rejected ones. */
  waitForAll(values: unknown[], goOn: (values: unknown[]) => void): void {
    let missing = 0;
    for (let slot = 0; slot < values.length; slot += 1) {
      const value = values[slot];
      if (!isPromise(value)) continue;
      missing += 1;
      this.wait(value, (settled) => {
        values[slot] = settled;
        missing -= 1;
        if (missing === 0) goOn(values);
        else handleRejections(settled);
      });
    }
    if (missing === 0) goOn(values);
    else for (const value of values) handleRejections(value);
  }

  /** Does the work that waited, and all that follows from it. */
  #goOn(work: () => void): void {
    this.#waiting -= 1;
    this.#safely(() => {
      this.#pausesAtMs = performance.now() + TURN_MS;
      work();
      // To take over a long list is work, too.
      if (this.#tasks.length > 0 && !this.#isPaused && this.isTimeUp()) this.#pause(() => this.#work());
      else this.#work();
    });
  }

  #isOver(): boolean {
    return this.#waiting === 0 && this.#tasks.length === 0 && !this.#isPaused;
  }

  /** Works off the tasks that can be done now. */
  #work(): void {
    if (this.#isPaused || this.#isEnded) return;
    this.#pausesAtMs = performance.now() + TURN_MS;
    while (this.#tasks.length > 0) {
      const tasks = this.#tasks;
      this.#tasks = [];
      for (const [done, task] of tasks.entries()) {
        this.#run(task);
        const isLast = done === tasks.length - 1;
        if (!this.#isPaused && (isLast || performance.now() < this.#pausesAtMs)) continue;
        this.#tasks.unshift(...tasks.slice(done + 1));
        if (!this.#isPaused) this.#pause(() => this.#work());
        return;
      }
    }
    if (this.#isOver()) this.#over();
  }

  #pause(goOn: () => void): void {
    this.#isPaused = true;
    this.#inSlice(() => {
      this.#isPaused = false;
      this.#safely(goOn);
    });
  }

  /** Does something after others have had their turns; the listener to pauses waits until it is done. */
  #inSlice(work: () => void): void {
    const goesOn = new Promise<void>((resolve) => {
      inSlice(this.#job, () => {
        work();
        resolve();
      });
    });
    this.#onPause?.(goesOn);
  }

  /** A fault of ours must not leave the operation without an answer. */
  #safely(work: () => void): void {
    if (this.#isEnded) return;
    try {
      work();
    } catch (fault) {
      this.#isEnded = true;
      this.#broken(fault);
    }
  }
}

/** Handles rejections in a list that has to wait for others: handled only later, they count as unhandled. */
export function handleRejections(value: unknown): void {
  if (!Array.isArray(value)) return;
  for (const item of value) {
    if (isPromise(item)) item.then(handleRejections, ignore);
    else handleRejections(item);
  }
}

export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' && value !== null && typeof (value as PromiseLike<unknown>).then === 'function'
  );
}

const ignore = () => {};
