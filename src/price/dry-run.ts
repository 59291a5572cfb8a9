import { LRUCache } from 'lru-cache';
import { yieldToEventLoop } from '../async/turns.ts';
import { type Answer, type Call, type Endpoint, makeCall, type Send, type YearsOf } from '../service/call.ts';
import * as endpoints from '../service/endpoints.ts';
import type { Tenant } from '../tenants/tenant.ts';

/** Lists that later operations are priced by, per key digest. */
const MAX_LISTS = 400;

/**
 * Milliseconds for which a list stays before a newer one takes its place: they hardly ever change, and each is long
 * held.
 */
const RENEWING_MS = 60_000;

/** Characters of a data call's target that names many figures: to assume them takes long. */
const LONG_TARGET = 500;

/** The indicator that is asked for below records while the catalogue isn't known. */
const ASSUMED_METRIC = 'indicator_1';

interface KnownList {
  readonly body: unknown;
  readonly atMs: number;
}

/** Finds an indicator of a catalogue: one that has sources, which may be asked for. */
function metricIn(catalogue: unknown): string {
  try {
    const records = endpoints.indicators.decode(catalogue, {}, 0);
    return (records.find(({ sources }) => sources?.length) ?? records[0])?.key ?? ASSUMED_METRIC;
  } catch {
    return ASSUMED_METRIC;
  }
}

/** The assumptions on answers while they are not known. */
export interface Assumptions {
  /** Returns the years of the figures that the service holds: fields below them are asked for too. */
  readonly yearsOf: YearsOf;
  /** True if lists and records have their documented size, rather than nothing in them. */
  readonly areFilled: boolean;
  /** Called for a list that is not known. */
  onAssumedList(): void;
}

export type DryRun = ReturnType<typeof createDryRun>;

/**
 * Opens a stand-in for the service that answers without being asked: with the lists that it has given this key before,
 * or with assumptions. An operation that runs over it shows the calls that it would make.
 * @param more endpoints besides those that every service has
 */
export function createDryRun(now: () => number, more: readonly Endpoint[] = []) {
  /** Functions that assume an answer, by route; routes without one are left out. */
  const assumedOf: ReadonlyMap<string, NonNullable<Endpoint['assumed']>> = new Map(
    [...Object.values(endpoints), ...more].flatMap(({ route, assumed }: Endpoint) =>
      assumed === undefined ? [] : [[route, assumed] as const],
    ),
  );
  /** Routes that have one answer for all, which later operations are priced by. */
  const lists: ReadonlySet<string> = new Set(
    [...assumedOf.keys()].filter((route) => !route.includes('{') && route !== endpoints.observations.route),
  );
  const known = new LRUCache<string, KnownList>({ max: MAX_LISTS });
  const keyOf = (tenant: Tenant, call: Call) => `${tenant.digest} ${call.target}`;

  function remember(key: string, { body, receivedAt }: Answer): void {
    const before = known.get(key);
    if (before !== undefined && receivedAt - before.atMs < RENEWING_MS) return;
    known.set(key, { body, atMs: receivedAt });
  }

  return {
    /** Passes calls on and remembers the lists that come back. */
    remembering:
      (next: Send): Send =>
      (call, sending) => {
        const answering = next(call, sending);
        if (!lists.has(call.route)) return answering;
        return answering.then((answer) => {
          if (answer.status === 200) remember(keyOf(sending.caller.tenant, call), answer);
          return answer;
        });
      },
    /** Answers by known and assumed lists, and notes the calls that it was asked. */
    answering:
      (note: (call: Call) => void, assumptions: Assumptions): Send =>
      async (call, { caller, payer }) => {
        note(call);
        payer.reserve(call.route).charge();
        if (call.target.length > LONG_TARGET) await yieldToEventLoop(caller);
        const body = known.get(keyOf(caller.tenant, call))?.body ?? assumed(call, caller.tenant, assumptions);
        // If there is no record, nothing below it is asked for.
        const status = body === NO_RECORD ? 404 : 200;
        return { status, headers: {}, body, receivedAt: now() };
      },
  };

  /**
   * Returns an indicator of the key's own catalogue, as far as it is known, so that the fields below an indicator of a
   * record are asked for as well.
   */
  function metricOf(tenant: Tenant): string {
    const catalogue = known.peek(keyOf(tenant, makeCall(endpoints.indicators, {})));
    return catalogue === undefined ? ASSUMED_METRIC : metricIn(catalogue.body);
  }

  function assumed(call: Call, tenant: Tenant, assumptions: Assumptions): unknown {
    const { yearsOf } = assumptions;
    if (call.route === endpoints.observations.route)
      return endpoints.observations.assumed?.(call.target, ASSUMED_METRIC, yearsOf);
    if (lists.has(call.route)) assumptions.onAssumedList();
    if (assumptions.areFilled)
      return assumedOf.get(call.route)?.(call.target, metricOf(tenant), yearsOf) ?? {};
    if (call.route.includes('{')) return NO_RECORD;
    return lists.has(call.route) ? [] : {};
  }
}

const NO_RECORD = { detail: 'no record' };
