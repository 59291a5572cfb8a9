import { setImmediate } from 'node:timers/promises';
import { definePlugin, type PluginDefinition, type ServiceMeans } from '../../gateway/plugin.ts';
import type { QuotaRecord } from '../../keys/ledger.ts';
import type { Tenant } from '../../keys/tenant.ts';
import type { Clock } from '../../shared/async/clock.ts';
import { Failure } from '../../shared/errors.ts';

/** Limits of a plan. */
export interface PlanLimits {
  readonly name: string;
  readonly requestsPerMinute: number;
  readonly monthlyRequests: number;
}

/** Milliseconds that a call may wait after a 429 that nobody has foreseen: into the next minute, not for the next month. */
const WAIT_MS = 120_000;

/** Turns of the event loop in which an answer is read: of a thousand rows, a few. */
const READING_TURNS = 20;

const fullWords = (path: string | null) =>
  `CACHE_URL could not take what has come: is ${path === null ? 'its disk' : `the disk of ${path}`} full? The same command goes on from here once there is room.`;

export type Pace = ReturnType<typeof createPace>;

interface PaceParts {
  readonly clock: Clock;
  /** Counts as long as the service has named no other. */
  readonly plan: PlanLimits;
  /** Calls of the month to leave. */
  readonly leave: number;
  /** The file of the store; null if it is none. */
  readonly path: string | null;
  /** Called after each call, once its answer is stored. */
  readonly onCall: () => void;
}

/**
 * Lets calls out one by one, and as many a minute as the plan allows: by the ledger, which knows those of other gateways
 * of the store too. It stops for good when the month has no more to give.
 */
export function createPace(parts: PaceParts) {
  const { clock, plan, leave, onCall } = parts;
  let service: ServiceMeans | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let stopped: Failure | null = null;

  /**
   * Settles once the answer that has just come lies in the store, so that a fill which is killed then has lost none. What
   * the store can't take is not worth further calls.
   */
  async function stored(): Promise<void> {
    for (let turns = 0; turns < READING_TURNS; turns += 1) await setImmediate();
    if (await service?.tenantCache.landed()) onCall();
    else stopped ??= new Failure('OVERLOADED', fullWords(parts.path));
  }

  /** @throws Failure if no call of the month is to be spent any more */
  async function room(tenant: Tenant): Promise<void> {
    for (;;) {
      const { callsThisMinute, minuteResetsAt, ...left } = await (service as ServiceMeans).quota(tenant);
      stopped ??= endOf(left);
      if (stopped !== null) throw stopped;
      if (callsThisMinute < (left.requestsPerMinute ?? plan.requestsPerMinute)) return;
      await clock.sleep(Math.max(1, Date.parse(minuteResetsAt) - clock.now()));
    }
  }

  function endOf({
    state,
    callsThisMonth,
    monthlyRequests,
    monthResetsAt,
  }: Omit<QuotaRecord, 'callsThisMinute' | 'minuteResetsAt'>) {
    const most = monthlyRequests ?? plan.monthlyRequests;
    if (state !== 'MONTH_SPENT' && callsThisMonth < most - leave) return null;
    const words =
      state === 'MONTH_SPENT'
        ? 'The requests of this month are spent.'
        : `All but ${leave} of the ${most} requests of this month are spent.`;
    const next = `The same command goes on from here, after ${monthResetsAt}.`;
    return new Failure('MONTHLY_QUOTA_EXCEEDED', `${words} ${next}`, { resetsAt: monthResetsAt });
  }

  const plugin: PluginDefinition = definePlugin({
    name: 'pace of a fill',
    settings: {},
    open: () => ({
      start(gateway) {
        service = gateway.service;
      },
      call: (next) => (call, sending) => {
        const send = async () => {
          if (stopped !== null) throw stopped;
          if (!call.isPublic) await room(sending.caller.tenant);
          return next(call, { ...sending, waitDeadlineMs: clock.now() + WAIT_MS });
        };
        const answered = last.then(send);
        last = answered.catch(() => {}).then(stored);
        return answered;
      },
    }),
  });

  return {
    plugin,
    /** Why no further call leaves; null as long as any may. */
    get stopped() {
      return stopped;
    },
    /** Settles once all that has come lies in the store, or never will. */
    idle: () => last,
  };
}
