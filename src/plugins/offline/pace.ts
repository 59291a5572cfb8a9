import { setImmediate } from 'node:timers/promises';
import { definePlugin, type PluginDefinition, type ServiceMeans } from '../../gateway/plugin.ts';
import type { PlanLimits as DocumentedLimits, QuotaRecord } from '../../keys/ledger.ts';
import type { Tenant } from '../../keys/tenant.ts';
import type { Clock } from '../../shared/async/clock.ts';
import { Failure } from '../../shared/errors.ts';

export interface PlanLimits extends DocumentedLimits {
  readonly name: string;
}

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
  /** Called after each call, once its answer is stored. */
  readonly onCall: () => void;
}

/**
 * Sends calls one by one, as many a minute as the plan allows by the ledger, which also counts those of other gateways of
 * the store. Stops for good when the month is spent.
 */
export function createPace({ clock, plan, leave, path, onCall }: PaceParts) {
  let service: ServiceMeans | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let stopped: Failure | null = null;

  /** Waits until the answer is stored, so that a killed fill loses none. Stops if the store can't take it. */
  async function stored(): Promise<void> {
    for (let turns = 0; turns < READING_TURNS; turns += 1) await setImmediate();
    if (await service?.tenantCache.landed()) return onCall();
    const disk = path === null ? 'its disk' : `the disk of ${path}`;
    stopped ??= new Failure(
      'OVERLOADED',
      `CACHE_URL could not take what has come: is ${disk} full? The same command goes on from here once there is room.`,
    );
  }

  async function room(tenant: Tenant): Promise<void> {
    for (;;) {
      const quota = await (service as ServiceMeans).quota(tenant);
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
    /** Why no further call is sent; null while they are. */
    get stopped() {
      return stopped;
    },
    /** Settles once every answer has been stored, or has failed to be. */
    idle: () => last,
  };
}
