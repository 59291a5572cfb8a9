import type { Clock } from '../../shared/async/clock.ts';
import { messageOf } from '../../shared/errors.ts';

/** Addresses at which a program takes requests. */
export interface Addresses {
  readonly url: string;
  /** The address of health and metrics, if not beside the rest. */
  readonly adminUrl?: string | undefined;
}

/** One process that answers requests, as its supervisor sees it. */
export interface Worker {
  readonly id: number;
  /** Settles once it takes requests; rejects if it ended before. */
  readonly ready: Promise<Addresses>;
  /** Resolves at its end with its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /**
   * Has it end in good order; asked for the second time, nothing more happens.
   * @returns the number of requests that were cut, once it has ended
   */
  drain(how: Draining): Promise<number>;
  /** Ends it at once. */
  kill(): void;
}

interface Draining {
  /** True if others go on in its place: the program stays, and connections are given time to move. */
  readonly isReplaced: boolean;
  /** Milliseconds; `DRAIN_DELAY_MS` if none are given. */
  readonly delayMs?: number | undefined;
}

interface SupervisorParts<Kind extends Worker> {
  readonly count: number;
  readonly start: () => Kind;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** Milliseconds that a drain may take in all, beyond which a worker is ended. */
  readonly drainTimeoutMs: number;
  readonly note: (message: string) => void;
  /** Takes the exit code when no worker is left, and the last one ended for an error in configuration. */
  readonly onHopeless: (code: number) => void;
}

/** A worker ended before it took requests. */
export class WorkerEnded extends Error {
  override readonly name = 'WorkerEnded';
  readonly code: number | NodeJS.Signals;

  constructor(code: number | NodeJS.Signals) {
    super(`A worker ended with ${code} before it took requests.`);
    this.code = code;
  }
}

/** Exit code of a process whose settings have errors. */
const CONFIG_EXIT_CODE = 2;

/** Milliseconds that a worker may take until it takes requests. */
const START_TIMEOUT_MS = 60_000;

/** Milliseconds after which a worker's end has nothing to do with the end of those before it. */
const SETTLED_MS = 10_000;

/** The pause before the second replacement in a row, and the longest one; each is twice the last. */
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 30_000;

/** Keeps so many workers running, until it is told to drain them. */
export class Supervisor<Kind extends Worker> {
  readonly #parts: SupervisorParts<Kind>;
  readonly workers = new Set<Kind>();
  readonly #starting = new Set<Kind>();
  readonly #leaving = new Set<Kind>();
  /** Workers in a row that did not live long. */
  #shortLived = 0;
  #replaced = 0;
  #isStopping = false;
  #rolling: Promise<void> | null = null;
  #isRollWanted = false;

  constructor(parts: SupervisorParts<Kind>) {
    this.#parts = parts;
  }

  /** Workers that were started in place of one that had ended by itself. */
  get replaced(): number {
    return this.#replaced;
  }

  /**
   * Starts the workers: the first one alone, since an error of the settings shows in it.
   * @returns the address that they take requests at
   */
  async start(): Promise<Addresses> {
    const first = await this.#startOne();
    await Promise.all(Array.from({ length: this.#parts.count - 1 }, () => this.#startOne()));
    return first.ready;
  }

  /** Replaces the workers one after the other; each goes once the one in its place takes requests. */
  async roll(): Promise<void> {
    this.#isRollWanted = true;
    this.#rolling ??= this.#rollAsWanted();
    await this.#rolling;
  }

  /** @returns the number of requests that were cut; a worker that ends otherwise than it should counts as one */
  async drain(delayMs?: number): Promise<number> {
    this.#isStopping = true;
    for (const worker of this.#starting) worker.kill();
    const cuts = [...this.workers].map((worker) => this.#end(worker, { isReplaced: false, delayMs }));
    return (await Promise.all(cuts)).reduce((sum, cut) => sum + cut, 0);
  }

  /** Ends all workers at once. */
  kill(): void {
    this.#isStopping = true;
    for (const worker of [...this.#starting, ...this.workers]) worker.kill();
  }

  /** @throws WorkerEnded, or Error if it takes too long; then it is not among the workers */
  async #startOne(): Promise<Kind> {
    const { clock, start } = this.#parts;
    const worker = start();
    this.#starting.add(worker);
    const late = new AbortController();
    try {
      await Promise.race([worker.ready, this.#lateAfterStart(late.signal)]);
    } catch (error) {
      worker.kill();
      throw error;
    } finally {
      this.#starting.delete(worker);
      late.abort();
    }
    this.workers.add(worker);
    void this.#watch(worker, clock.now());
    return worker;
  }

  async #lateAfterStart(signal: AbortSignal): Promise<never> {
    await this.#parts.clock.sleep(START_TIMEOUT_MS, signal);
    throw new Error('A worker took too long to start.');
  }

  async #watch(worker: Kind, readyAtMs: number): Promise<void> {
    const { clock, note } = this.#parts;
    const code = await worker.ended;
    this.workers.delete(worker);
    if (this.#leaving.has(worker) || this.#isStopping) return;
    note(`Worker ${worker.id} ended with ${code}; another one takes its place`);
    this.#shortLived = clock.now() - readyAtMs < SETTLED_MS ? this.#shortLived + 1 : 0;
    await this.#replace();
  }

  async #replace(): Promise<void> {
    const { clock, note, onHopeless } = this.#parts;
    for (;;) {
      const pauses = this.#shortLived - 1;
      if (pauses > 0) await clock.sleep(Math.min(FIRST_PAUSE_MS * 2 ** (pauses - 1), MAX_PAUSE_MS));
      if (this.#isStopping) return;
      try {
        await this.#startOne();
        this.#replaced += 1;
        return;
      } catch (error) {
        if (this.#isStopping) return;
        this.#shortLived += 1;
        note(messageOf(error));
        if (isSettingsError(error) && this.workers.size === 0) onHopeless(CONFIG_EXIT_CODE);
      }
    }
  }

  async #rollAsWanted(): Promise<void> {
    while (this.#isRollWanted && !this.#isStopping) {
      this.#isRollWanted = false;
      await this.#rollAll();
    }
    this.#rolling = null;
  }

  async #rollAll(): Promise<void> {
    const { note } = this.#parts;
    for (const old of [...this.workers]) {
      if (this.#isStopping) return;
      // A worker that has ended since has been replaced.
      if (!this.workers.has(old)) continue;
      try {
        await this.#startOne();
      } catch (error) {
        if (!this.#isStopping) note(`The workers are not replaced: ${messageOf(error)}`);
        return;
      }
      this.#leaving.add(old);
      await this.#end(old, { isReplaced: true });
      this.#leaving.delete(old);
    }
    if (!this.#isStopping) note('All workers are replaced');
  }

  /** @returns the number of requests that were cut */
  async #end(worker: Kind, how: Draining): Promise<number> {
    const { clock, drainTimeoutMs } = this.#parts;
    const over = new AbortController();
    const tooLong = clock.sleep(drainTimeoutMs + (how.delayMs ?? 0), over.signal).then(
      () => worker.kill(),
      () => {},
    );
    const cut = await worker.drain(how);
    over.abort();
    await tooLong;
    return (await worker.ended) === 0 ? cut : Math.max(1, cut);
  }
}

function isSettingsError(error: unknown): boolean {
  return error instanceof WorkerEnded && error.code === CONFIG_EXIT_CODE;
}
