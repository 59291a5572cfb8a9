/** Milliseconds that the first of several tasks waits at most, if the iteration is long. */
const LONGEST_WAIT_MS = 1;

/**
 * Runs tasks together, at the end of the event loop's iteration in which they were added.
 *
 * Sockets wake the loop one by one, and each wake runs its own chain of two hundred small functions: an answer that comes
 * in is decoded, settles demands and resumes an executor; an answer that goes out is framed and written. One chain a wake
 * means that the code of the HTTP parser, undici and Fastify evicts ours from the processor's caches in between, and that a
 * client on the same machine is scheduled for each write. Chains that run one after another share warm code, and one
 * switch to the client. So whatever comes in (`src/service/exchange.ts`) and goes out (`src/server/write-together.ts`)
 * waits here for its neighbours.
 *
 * What it costs: a task runs after the sockets that are readable now, not in its turn among them. In a long iteration
 * tasks don't wait for the end: the first one added after {@link LONGEST_WAIT_MS} runs all of them.
 * `npm run bench:profile -- together` shows the gain.
 */
export class IterationQueue {
  readonly #waiting: (() => void)[] = [];
  #sinceMs = 0;

  /** @param task must not throw */
  add(task: () => void): void {
    const nowMs = performance.now();
    if (this.#waiting.length === 0) {
      this.#sinceMs = nowMs;
      setImmediate(this.#runAll);
    }
    this.#waiting.push(task);
    if (nowMs - this.#sinceMs > LONGEST_WAIT_MS) this.#runAll();
  }

  readonly #runAll = () => {
    for (const task of this.#waiting.splice(0)) task();
  };
}
