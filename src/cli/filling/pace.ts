import { setImmediate } from 'node:timers/promises';
import type { ComposedGateway, Plugin } from '../../gateway/plugin.ts';
import type { PlanLimits, QuotaRecord } from '../../keys/ledger.ts';
import type { Tenant } from '../../keys/tenant.ts';
import type { Payer } from '../../service/payer.ts';
import type { Clock } from '../../shared/async/clock.ts';
import { Failure } from '../../shared/errors.ts';

/** Milliseconds that a call may wait after an unexpected 429: into the next minute, but not for the next month. */
const WAIT_MS = 120_000;

/** Turns of the event loop in which an answer is read: one of a thousand rows takes a few. */
const READING_TURNS = 20;

export type Pace = ReturnType<typeof createPace>;

interface PaceParts {
  readonly clock: Clock;
  /** Assumed until the service names another. */
  readonly plan: PlanLimits;
  /** Calls of the month to leave unspent. */
  readonly leave: number;
  /** The file of the store, if it is one. */
  readonly path: string | null;
  /** Called once the answer of a call is stored, with the requests that it took. */
  readonly onCall: (requests: number) => void;
  /** Called before the first call beyond the agreed ones; returns how many more are agreed to, 0 for none. */
  readonly onSpent: () => Promise<number>;
}

const SPENT_WORDS =
  'The calls that were agreed to are spent, and more are needed: a series is longer than assumed, or calls were repeated. The same command goes on from here, at a new price; --most agrees to a number of calls in advance.';

/** Refuses a repeated attempt; a fill tries again, and then asks for more. */
const spent = () => new Failure('OVERLOADED', SPENT_WORDS);

/**
 * Sends calls one by one, as many a minute as the plan allows by the ledger, which also counts those of other gateways of
 * the store, and no more than were agreed to. Stops for good when the month is spent, or the key is refused.
 */
export function createPace({ clock, plan, leave, path, onCall, onSpent }: PaceParts) {
  let service: ComposedGateway['service'] | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let stopped: Failure | null = null;
  /** Requests that may still leave. */
  let agreed = 0;

  /** Waits until the answer is stored, so that a killed fill loses none. Stops if the store can't take it. */
  async function stored(requests: number): Promise<void> {
    if (requests === 0) return;
    for (let turns = 0; turns < READING_TURNS; turns += 1) await setImmediate();
    if (await service?.tenantCache.landed()) return onCall(requests);
    const disk = path === null ? 'its disk' : `the disk of ${path}`;
    stopped ??= new Failure(
      'OVERLOADED',
      `CACHE_URL could not take what has come: is ${disk} full? The same command goes on from here once there is room.`,
    );
  }

  /** Retries are requests, too. */
  const bounded = ({ reserve, ...payer }: Payer): Payer => ({
    ...payer,
    reserve(route) {
      if (agreed <= 0) throw spent();
      const { charge, release } = reserve(route);
      return {
        charge() {
          charge();
          agreed -= 1;
        },
        release,
      };
    },
  });

  async function agree(): Promise<void> {
    if (agreed <= 0) agreed = await onSpent();
    if (agreed <= 0) stopped ??= new Failure('OPERATION_TOO_EXPENSIVE', SPENT_WORDS);
  }

  async function room(tenant: Tenant): Promise<void> {
    for (;;) {
      const quota = await (service as ComposedGateway['service']).quota(tenant);
      stopped ??= endOf(quota);
      if (stopped !== null) throw stopped;
      if (quota.callsThisMinute < (quota.requestsPerMinute ?? plan.requestsPerMinute)) return;
      await clock.sleep(Math.max(1, Date.parse(quota.minuteResetsAt) - clock.now()));
    }
  }

  function endOf({ state, callsThisMonth, monthlyRequests, monthResetsAt }: QuotaRecord) {
    const most = monthlyRequests ?? plan.monthlyRequests;
    if (state !== 'MONTH_SPENT' && callsThisMonth < most - leave) return null;
    const words =
      state === 'MONTH_SPENT'
        ? 'The requests of this month are spent.'
        : `All but ${leave} of the ${most} requests of this month are spent.`;
    const next = `The same command goes on from here, after ${monthResetsAt}.`;
    return new Failure('MONTHLY_QUOTA_EXCEEDED', `${words} ${next}`, { resetsAt: monthResetsAt });
  }

  const plugin: Plugin = {
    start(gateway) {
      service = gateway.service;
    },
    // The service has not answered such a request, and counts none.
    attempt: () => ({
      onStatus(status) {
        if (status === 429) agreed += 1;
      },
    }),
    call: (next) => (call, sending) => {
      const send = async () => {
        if (stopped === null) await agree();
        if (stopped !== null) throw stopped;
        if (!call.isPublic) await room(sending.caller.tenant);
        before = agreed;
        const payer = bounded(sending.payer);
        return next(call, { ...sending, payer, waitDeadlineMs: clock.now() + WAIT_MS });
      };
      let before: number | null = null;
      const answered = last.then(send);
      const failed = (error: unknown) => {
        if (error instanceof Failure && error.code === 'UNAUTHENTICATED') stopped ??= error;
      };
      last = answered.catch(failed).then(() => stored(before === null ? 0 : before - agreed));
      return answered;
    },
  };

  return {
    plugin,
    /** @param calls that may be sent in all */
    agreeTo(calls: number): void {
      agreed = calls;
    },
    /** Why no further call is sent; null while they are. */
    get stopped() {
      return stopped;
    },
    /** Settles once every answer has been stored, or has failed to be. */
    idle: () => last,
  };
}
