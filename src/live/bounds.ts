import { Semaphore } from 'async-mutex';
import { Cancellation } from '../async/cancellation.ts';
import { Failure } from '../errors.ts';
import type { Admission, AdmissionRefusal } from '../operations/admission.ts';
import type { Caller } from '../upstream/call.ts';

/** Subscriptions of one key that begin at the same time; the others wait. */
const MAX_BEGINNING = 16;

/**
 * Subscriptions that have begun under keys which the service has not accepted lately, all of these keys together: while it fails, nobody
 * knows which of them are made up.
 */
const MAX_UNPROVEN = 1_000;

/** Changes of events that are resolved at the same time, of all subscriptions together. */
const MAX_CHANGES = 5_000;

/** Changes are counted by so many: resolving fewer takes hardly less. */
const CHANGES_PER_UNIT = 100;

/** Subscriptions of one key. */
interface KeySubscriptions {
  count: number;
  /** Number of them that have begun. */
  begun: number;
  readonly beginning: Semaphore;
  beginners: number;
  /** Place that those which begin have among operations; null while none does. */
  admitted: Promise<AdmissionRefusal | null> | null;
}

/** The place of one subscription among those of its key. */
export interface SubscriptionPlace {
  /**
   * Does the work of beginning it, once few enough others of the key are at that.
   * @throws Failure if the gateway is overloaded
   */
  begin<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Frees the place: called once the subscription has failed to begin, or is over. */
  giveBack(): void;
}

/**
 * Bounds the subscriptions of a key, those that are about to begin among them. All of a key that begin at the same time
 * are one operation under way to the gateway, since one feed does the work for all of them: so the subscriptions of a
 * gateway that is gone can come to another one at once.
 */
export class SubscriptionPlaces {
  readonly #limit: number;
  readonly #admission: Pick<Admission, 'enter' | 'leave'>;
  readonly #isProven: (keyDigest: string) => boolean;
  readonly #taken = new Map<string, KeySubscriptions>();
  /** Number of those that have begun, of all keys. */
  #begun = 0;

  constructor(
    limit: number,
    admission: Pick<Admission, 'enter' | 'leave'>,
    isProven: (keyDigest: string) => boolean,
  ) {
    this.#limit = limit;
    this.#admission = admission;
    this.#isProven = isProven;
  }

  /** @throws Failure if the key has as many as it may, or all that may be made up have */
  take({ keyDigest, flow }: Pick<Caller, 'keyDigest' | 'flow'>): SubscriptionPlace {
    const taken = this.#taken.get(keyDigest) ?? {
      count: 0,
      begun: 0,
      beginning: new Semaphore(MAX_BEGINNING),
      beginners: 0,
      admitted: null,
    };
    if (taken.count >= this.#limit) throw tooMany(taken.count + 1, this.#limit);
    if (!this.#isProven(keyDigest) && this.#begunUnproven() >= MAX_UNPROVEN) throw overloaded();
    taken.count += 1;
    this.#taken.set(keyDigest, taken);
    let isGiven = false;
    let begun = 0;
    return {
      begin: (work) =>
        taken.beginning.runExclusive(async () => {
          const result = await this.#admitted(taken, flow, work);
          if (isGiven) return result;
          begun = 1;
          this.#note(taken, begun);
          return result;
        }),
      giveBack: () => {
        if (isGiven) return;
        isGiven = true;
        this.#note(taken, -begun);
        taken.count -= 1;
        if (taken.count === 0) this.#taken.delete(keyDigest);
      },
    };
  }

  #note(taken: KeySubscriptions, begun: number): void {
    taken.begun += begun;
    this.#begun += begun;
  }

  #begunUnproven(): number {
    // Fewer than so many in all: nothing to look for.
    if (this.#begun < MAX_UNPROVEN) return 0;
    let count = 0;
    for (const [keyDigest, { begun }] of this.#taken) if (!this.#isProven(keyDigest)) count += begun;
    return count;
  }

  async #admitted<Result>(
    taken: KeySubscriptions,
    flow: string,
    work: () => Promise<Result>,
  ): Promise<Result> {
    // It isn't given up with the client that it was taken for, since others wait for it too.
    taken.admitted ??= Promise.resolve(this.#admission.enter(flow, { signal: new Cancellation() }));
    const { admitted } = taken;
    taken.beginners += 1;
    try {
      if ((await admitted) !== null) throw overloaded();
      return await work();
    } finally {
      taken.beginners -= 1;
      if (taken.beginners === 0) {
        taken.admitted = null;
        if ((await admitted) === null) this.#admission.leave(flow);
      }
    }
  }
}

/**
 * Bounds the events that are resolved at the same time: each time that a source has run, there are events for everybody
 * at once.
 */
export class EventWork {
  readonly #units = new Semaphore(MAX_CHANGES / CHANGES_PER_UNIT);

  /** Resolves an event once there is room for it; one that takes all of the room, alone. */
  resolve<Result>(value: unknown, work: () => Promise<Result>): Promise<Result> {
    const units = Math.ceil(Math.min(Math.max(1, changesIn(value)), MAX_CHANGES) / CHANGES_PER_UNIT);
    return this.#units.runExclusive(work, units);
  }
}

/** Returns the number of changes that an event tells of. */
export function changesIn(value: unknown): number {
  const isOfFigures = typeof value === 'object' && value !== null && 'changes' in value;
  return isOfFigures && Array.isArray(value.changes) ? value.changes.length : 0;
}

function tooMany(planned: number, limit: number): Failure {
  const message = `There are ${limit} subscriptions under this key already, which is as many as one may have here (MAX_SUBSCRIPTIONS). End one first, or ask for more in one.`;
  return new Failure('OPERATION_TOO_EXPENSIVE', message, { planned, limit });
}

function overloaded(): Failure {
  return new Failure('OVERLOADED', 'The gateway is overloaded. Nothing was run; ask again a little later.', {
    retryAfterSeconds: 2,
  });
}
