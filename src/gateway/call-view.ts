import { PUBLIC } from '../keys/tenant.ts';
import type { TenantCache } from '../keys/tenant-cache.ts';
import { isAtLimit } from '../observations/planner/learned.ts';
import type { CallStage, OutgoingCall } from '../plugin/calls.ts';
import { type CachedAnswer, nameOfCall } from '../service/cached-answers.ts';
import type { Call, Send } from '../service/call.ts';
import { etlStatus, health, observations } from '../service/endpoints.ts';
import { decodeObservations } from '../service/records/observations.ts';
import type { Sending } from '../service/sending.ts';

const ABOUT = new Map<string, OutgoingCall['about']>([
  [observations.route, 'figures'],
  [etlStatus.route, 'sources'],
  [health.route, 'health'],
]);

/** @param tenantCache opens after the stages are made */
export function sendThrough(stage: CallStage, tenantCache: () => TenantCache): (next: Send) => Send {
  return (next) => (call, sending) => {
    const course = { isOver: false };
    const view = viewOf(call, sending, tenantCache, course);
    return stage(view, (changes) => next(call, { ...sending, ...changes })).finally(() => {
      course.isOver = true;
    });
  };
}

function viewOf(
  call: Call,
  sending: Sending,
  tenantCache: () => TenantCache,
  course: { readonly isOver: boolean },
): OutgoingCall {
  const { route, target, isPublic } = call;
  const { caller, trace } = sending;
  const tenant = isPublic ? PUBLIC : caller.tenant;
  return {
    route,
    target,
    about: ABOUT.get(route) ?? 'other',
    owner: isPublic ? '' : tenant.digest,
    get signal() {
      return sending.signal;
    },
    trace,
    async cached() {
      // Whoever keeps the call of one caller mustn't read by it for the next.
      if (course.isOver) throw new TypeError('The call is over.');
      const entry = await tenantCache().readOne<CachedAnswer>(tenant, nameOfCall(call));
      return entry?.value.status === 200 ? { body: entry.value.body } : null;
    },
    sourceRunsIn: (body) =>
      etlStatus
        .decode(body, {}, 0)
        .map(({ key, lastSuccessfulRefresh }) => ({ key, lastRunAt: lastSuccessfulRefresh })),
    figuresIn(body) {
      const { rows, blanks, errors, unknown, meta, received } = decodeObservations(body, route, 0);
      const limit = new URLSearchParams(target.split('?')[1]).get('limit');
      // A service may state the rows that it has sent as the total.
      const isFull = isAtLimit(received, meta.limit, limit === null ? undefined : Number(limit));
      const isWhole = meta.total === received && !isFull && unknown.length === 0;
      return { rows, blanks, errors, isWhole };
    },
    recheckFigures: (beforeMs) => tenantCache().recheck(tenant, beforeMs),
  };
}
