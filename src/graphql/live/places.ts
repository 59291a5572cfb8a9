import { Semaphore } from 'async-mutex';
import type { Tenant } from '../../keys/tenant.ts';
import type { Caller } from '../../service/caller.ts';
import { yieldToEventLoop } from '../../shared/async/turns.ts';
import { Failure } from '../../shared/errors.ts';
import type { Admission } from '../request/admission.ts';
import { UNPROVEN } from '../request/callers.ts';

/** Subscriptions of one key that begin at the same time; the others wait. */
const MAX_BEGINNING = 16;

/** Open subscriptions of all keys without recent proof together: while the service fails, any of them may be made up. */
const MAX_UNPROVEN = 1_000;

/** Characters of unread subscriptions of all such keys together, and the least that each counts as. */
const MAX_UNREAD = 4 * 1024 * 1024;
const LEAST_UNREAD = 1_000;

/** Subscriptions of such keys read at the same time: operations of such keys wait behind them. */
const MAX_READING = 2;

interface KeySubscriptions {
  readonly tenant: Tenant;
  count: number;
  readonly byVisitor: Map<string, number>;
  begun: number;
  readonly beginning: Semaphore;
  beginners: number;
  /** The one place among operations that all beginners of a key share; null while there are none. */
  admitted: { readonly caller: Caller; readonly refusal: ReturnType<Admission['enter']> } | null;
}

/**
 * Bounds the subscriptions of a key, beginning ones included. All that begin together under a key count as one operation
 * under way, since one feed does their work: the subscriptions of a lost gateway can move to another one at once.
 */
export class SubscriptionPlaces {
  readonly #limit: number;
  readonly #admission: Pick<Admission, 'enter' | 'leave'>;
  /** By key; under the gateway's own key, by the budget of each issued key. */
  readonly #taken = new Map<Tenant | string, KeySubscriptions>();
  /** Characters of unread subscriptions under unproven keys. */
  #unread = 0;
  readonly #reading = new Semaphore(MAX_READING);

  constructor(limit: number, admission: Pick<Admission, 'enter' | 'leave'>) {
    this.#limit = limit;
    this.#admission = admission;
  }

  /**
   * @param lengthOf returns the characters of its text and variables
   * @throws Failure if the key, or all unproven keys together, have too many
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
    const end = tenant.keep();
    this.#taken.set(whose, taken);
    const reading = this.#reading;
    let isGiven = false;
    let begun = 0;
    return {
      /** @throws Failure if the gateway is overloaded */
      begin: <Result>(work: () => Promise<Result>): Promise<Result> =>
        taken.beginning.runExclusive(async () => {
          const result = await this.#admitted(taken, caller, work);
          if (!isGiven) begun = 1;
          taken.begun += begun;
          return result;
        }),
      /** Parses in a turn of its own: anybody may send many, and each may take milliseconds. */
      async read<Result>(work: () => Result): Promise<Result> {
        const inTurn = () => yieldToEventLoop(caller).then(work);
        try {
          return await (isUnproven ? reading.runExclusive(inTurn) : inTurn());
        } finally {
          noteRead();
        }
      },
      giveBack: () => {
        if (isGiven) return;
        isGiven = true;
        noteRead();
        taken.begun -= begun;
        taken.count -= 1;
        noteOfVisitor(-1);
        end();
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
    // It outlives the client that it was taken for, since others wait for it too.
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
 * @returns a function that adds to the visitor's count
 * @throws Failure if the visitor already has its share
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
