import { Semaphore } from 'async-mutex';
import type { Admission } from '../../graphql/request/admission.ts';
import { UNPROVEN } from '../../graphql/request/callers.ts';
import type { Tenant } from '../../keys/tenant.ts';
import type { Caller } from '../../service/caller.ts';
import { yieldToEventLoop } from '../../shared/async/turns.ts';
import { Failure } from '../../shared/errors.ts';

/** Subscriptions of one key that begin at the same time; the others wait. */
const MAX_BEGINNING = 16;

/**
 * Subscriptions that have begun under keys which the service has not accepted lately, all of these keys together:
 * while it fails, nobody knows which of them are made up.
 */
const MAX_UNPROVEN = 1_000;

/**
 * Characters of subscriptions that wait to be read under such keys, all of these keys together, and the characters that
 * each counts as at the least.
 */
const MAX_UNREAD = 4 * 1024 * 1024;
const LEAST_UNREAD = 1_000;

/** Subscriptions under such keys that are read at the same time: operations under such keys wait behind them. */
const MAX_READING = 2;

interface KeySubscriptions {
  readonly tenant: Tenant;
  count: number;
  /** Those of each of its visitors, if it has several. */
  readonly byVisitor: Map<string, number>;
  /** Number of them that have begun. */
  begun: number;
  readonly beginning: Semaphore;
  beginners: number;
  /** Place that those which begin have among operations; null while none does. */
  admitted: { readonly caller: Caller; readonly refusal: ReturnType<Admission['enter']> } | null;
}

type Admitting = Pick<Admission, 'enter' | 'leave'>;

/**
 * Bounds the subscriptions of a key, those that are about to begin among them. All of a key that begin at the same time
 * are one operation under way to the gateway, since one feed does the work for all of them: so the subscriptions of a
 * gateway that is gone can come to another one at once.
 */
export class SubscriptionPlaces {
  readonly #limit: number;
  readonly #admission: Admitting;
  /** Subscriptions by key; under the gateway's own, by the budget of each issued key. */
  readonly #taken = new Map<Tenant | string, KeySubscriptions>();
  /** Characters of those that wait to be read under keys without proof. */
  #unread = 0;
  readonly #reading = new Semaphore(MAX_READING);

  constructor(limit: number, admission: Admitting) {
    this.#limit = limit;
    this.#admission = admission;
  }

  /**
   * Takes the place of one subscription.
   * @param lengthOf returns the characters of its text and variables
   * @throws Failure if the key has as many as it may, or all that may be made up have
   */
  take(caller: Caller, lengthOf = () => 0) {
    const { tenant } = caller;
    const whose = caller.budget?.name ?? tenant;
    const taken = this.#taken.get(whose) ?? {
      tenant,
      count: 0,
      byVisitor: new Map(),
      begun: 0,
      beginning: new Semaphore(MAX_BEGINNING),
      beginners: 0,
      admitted: null,
    };
    if (taken.count >= this.#limit) throw tooMany(taken.count + 1, this.#limit);
    const noteOfVisitor = placeOfVisitor(taken, caller.visitor, this.#limit);
    if (!tenant.isProven && this.#begunUnproven() >= MAX_UNPROVEN) throw overloaded();
    const isUnproven = caller.flow === UNPROVEN;
    let unread = isUnproven ? LEAST_UNREAD + lengthOf() : 0;
    if (isUnproven && this.#unread + unread > MAX_UNREAD) throw overloaded();
    this.#unread += unread;
    const noteRead = () => {
      this.#unread -= unread;
      unread = 0;
    };
    taken.count += 1;
    noteOfVisitor(1);
    tenant.underWay += 1;
    this.#taken.set(whose, taken);
    const reading = this.#reading;
    let isGiven = false;
    let begun = 0;
    return {
      /**
       * Does the work of beginning it, once few enough others of the key are at that.
       * @throws Failure if the gateway is overloaded
       */
      begin: <Result>(work: () => Promise<Result>): Promise<Result> =>
        taken.beginning.runExclusive(async () => {
          const result = await this.#admitted(taken, caller, work);
          if (!isGiven) begun = 1;
          taken.begun += begun;
          return result;
        }),
      /** Reads it in a slice of its own: anybody may send many, and each may take milliseconds. */
      async read<Result>(work: () => Result): Promise<Result> {
        const inTurn = () => yieldToEventLoop(caller).then(work);
        try {
          return await (isUnproven ? reading.runExclusive(inTurn) : inTurn());
        } finally {
          noteRead();
        }
      },
      /** Frees the place: called once the subscription has failed to begin, or is over. */
      giveBack: () => {
        if (isGiven) return;
        isGiven = true;
        noteRead();
        taken.begun -= begun;
        taken.count -= 1;
        noteOfVisitor(-1);
        tenant.underWay -= 1;
        if (taken.count === 0) this.#taken.delete(whose);
      },
    };
  }

  #begunUnproven(): number {
    let count = 0;
    for (const { tenant, begun } of this.#taken.values()) if (!tenant.isProven) count += begun;
    return count;
  }

  async #admitted<Result>(
    taken: KeySubscriptions,
    caller: Caller,
    work: () => Promise<Result>,
  ): Promise<Result> {
    // It isn't given up with the client that it was taken for, since others wait for it too.
    taken.admitted ??= {
      caller,
      refusal: this.#admission.enter(caller, { signal: new AbortController().signal }),
    };
    const { admitted } = taken;
    taken.beginners += 1;
    try {
      if ((await admitted.refusal) !== null) throw overloaded();
      return await work();
    } finally {
      taken.beginners -= 1;
      if (taken.beginners === 0) {
        taken.admitted = null;
        if ((await admitted.refusal) === null) this.#admission.leave(admitted.caller);
      }
    }
  }
}

/** Share of a key's subscriptions that one of its visitors may have. */
const VISITOR_SHARE = 1 / 4;

/**
 * Looks for a place for one more subscription of a visitor.
 * @returns a function that adds to the number of the visitor's subscriptions
 * @throws Failure if the visitor has its share of them
 */
function placeOfVisitor(
  { byVisitor }: KeySubscriptions,
  visitor: Caller['visitor'],
  limit: number,
): (added: number) => void {
  if (visitor === undefined) return () => {};
  const { name, perMinute } = visitor;
  const share = Math.max(1, Math.min(Math.floor(limit * VISITOR_SHARE), perMinute ?? limit));
  const count = () => byVisitor.get(name) ?? 0;
  if (count() >= share) {
    const message = `One visitor may have ${share} subscriptions by this key at once. End one first, or ask for more in one.`;
    throw new Failure('OPERATION_TOO_EXPENSIVE', message, { planned: count() + 1, limit: share });
  }
  return (added) => {
    const left = count() + added;
    if (left > 0) byVisitor.set(name, left);
    else byVisitor.delete(name);
  };
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
