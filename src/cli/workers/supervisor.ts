import type { Clock } from '../../shared/async/clock.ts';
import { messageOf } from '../../shared/errors.ts';

export interface Addresses {
  readonly url: string;
  /** The address of health and metrics, if not beside the rest. */
  readonly adminUrl?: string | undefined;
}

/** A process that answers requests, as its supervisor sees it. */
export interface Worker {
  readonly id: number;
  /** Settles once it takes requests; rejects if it ended before. */
  readonly ready: Promise<Addresses>;
  /** Resolves at its end with its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /**
   * Has it end in good order. Has no further effect the second time.
   * @returns the number of requests that were cut, once it has ended
   */
  drain(how: Draining): Promise<number>;
  kill(): void;
}

interface Draining {
  /** True if another worker goes on in its place, so connections are given time to move. */
  readonly isReplaced: boolean;
  /** `DRAIN_DELAY_MS` if left out. */
  readonly delayMs?: number | undefined;
}

interface SupervisorParts<Kind extends Worker> {
  readonly count: number;
  readonly start: () => Kind;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** Beyond this, a draining worker is killed. */
  readonly drainTimeoutMs: number;
  readonly note: (message: string) => void;
  /** Called with the exit code if no worker is left, and the last one ended for an error of the settings. */
  readonly onHopeless: (code: number) => void;
}

export class WorkerEnded extends Error {
  override readonly name = 'WorkerEnded';
  readonly code: number | NodeJS.Signals;

  constructor(code: number | NodeJS.Signals) {
    super(`A worker ended with ${code} before it took requests.`);
    this.code = code;
  }
}

/** Exit code for errors of the settings. */
const CONFIG_EXIT_CODE = 2;

const START_TIMEOUT_MS = 60_000;

/** A worker that has lived so long is no short-lived one. */
const SETTLED_MS = 10_000;

/** The pause before the second replacement in a row, and the longest pause; each is twice the last. */
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 30_000;

/** Keeps a number of workers running. */
export class Supervisor<Kind extends Worker> {
  readonly #parts: SupervisorParts<Kind>;
  readonly workers = new Set<Kind>();
  readonly #starting = new Set<Kind>();
  readonly #leaving = new Set<Kind>();
  /** Short-lived workers in a row. */
  #shortLived = 0;
  /** Workers that were started in place of one that had ended by itself. */
  replaced = 0;
  #isStopping = false;
  #rolling: Promise<void> | null = null;
  #isRollWanted = false;

  constructor(parts: SupervisorParts<Kind>) {
    this.#parts = parts;
  }

  /** Starts the first worker alone, since errors of the settings show in it. */
  async start(): Promise<Addresses> {
    const first = await this.#startOne();
    await Promise.all(Array.from({ length: this.#parts.count - 1 }, () => this.#startOne()));
    return first.ready;
  }

  /** Replaces the workers one after the other, without a gap. */
  async roll(): Promise<void> {
    this.#isRollWanted = true;
    this.#rolling ??= this.#rollAsWanted();
    await this.#rolling;
  }

  /** @returns the number of requests that were cut; a worker that fails to end in order counts as one */
  async drain(delayMs?: number): Promise<number> {
    this.#isStopping = true;
    for (const worker of this.#starting) worker.kill();
    const cuts = [...this.workers].map((worker) => this.#end(worker, { isReplaced: false, delayMs }));
    return (await Promise.all(cuts)).reduce((sum, cut) => sum + cut, 0);
  }

  kill(): void {
    this.#isStopping = true;
    for (const worker of [...this.#starting, ...this.workers]) worker.kill();
  }

  /** @throws WorkerEnded, or Error if it takes too long */
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
        this.replaced += 1;
        return;
      } catch (error) {
        if (this.#isStopping) return;
        this.#shortLived += 1;
        note(messageOf(error));
        const code = error instanceof WorkerEnded ? error.code : null;
        if (code === CONFIG_EXIT_CODE && this.workers.size === 0) onHopeless(code);
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
      // It may have ended and been replaced since.
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
