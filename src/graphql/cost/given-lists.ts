import { BoundedCache, createLru, OVERHEAD_BYTES, roughBytes } from '../../cache/lru.ts';
import type { Tenant } from '../../keys/tenant.ts';
import type { Answer, Call, Endpoint, Send } from '../../service/call.ts';
import * as endpoints from '../../service/endpoints.ts';

/** Of all keys together. */
const MAX_LISTS_BYTES = 16 * 1024 * 1024;

/** Share of that beyond which a list that comes for the first time is not kept. */
const CROWDED = 0.75;

/** Names of such lists that are remembered, each about 100 bytes. */
const MAX_NAMES = 10_000;

/** A list is replaced at most once in this time, since sizes hardly change. */
const RENEWING_MS = 60_000;

/**
 * Notes the lists that the service has given each key, to price later operations by.
 * @param more endpoints besides those that every service has
 */
export function openGivenLists(more: readonly Endpoint[]) {
  const given = new BoundedCache<{ readonly body: unknown; readonly atMs: number }>(
    MAX_LISTS_BYTES,
    ({ body }) => OVERHEAD_BYTES + roughBytes(body),
  );
  const cameBefore = createLru<true>(MAX_NAMES);
  const keyOfCall = (tenant: Tenant, { target }: Call) => `${tenant.digest} ${target}`;
  const isOfAll = ({ route, assumed }: Endpoint) =>
    assumed !== undefined && !route.includes('{') && route !== endpoints.observations.route;
  const all: readonly Endpoint[] = [...Object.values(endpoints), ...more];
  /** Routes with one answer for all. */
  const routes: ReadonlySet<string> = new Set(all.filter(isOfAll).map(({ route }) => route));

  function cacheList(listKey: string, { body, receivedAt }: Answer): void {
    const before = given.get(listKey);
    if (before === undefined ? mayKeep(listKey) : receivedAt - before.atMs >= RENEWING_MS)
      given.set(listKey, { body, atMs: receivedAt });
  }

  /**
   * Of many keys, most may come once, and lists that push each other out live just long enough for the collector to move
   * all of them to the old generation. So with little room left, a list is kept when it comes for the second time; until
   * then its key's operations are priced by assumptions.
   */
  function mayKeep(listKey: string): boolean {
    if (given.calculatedSize < CROWDED * given.maxSize || cameBefore.delete(listKey)) return true;
    cameBefore.set(listKey, true);
    return false;
  }

  return {
    /** All endpoints, those of plugins included. */
    endpoints: all,
    routes,
    /** The body of a list; undefined if the key has been given none. */
    of: (tenant: Tenant, call: Call): unknown => given.get(keyOfCall(tenant, call))?.body,
    /** Notes the lists among the answers. */
    notedListsStage:
      (next: Send): Send =>
      (call, sending) => {
        const answering = next(call, sending);
        if (!routes.has(call.route)) return answering;
        return answering.then((answer) => {
          if (answer.status === 200) cacheList(keyOfCall(sending.caller.tenant, call), answer);
          return answer;
        });
      },
  };
}
