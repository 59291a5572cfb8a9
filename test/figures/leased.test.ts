import { expect, it } from 'vitest';
import { createInFlight } from '../../src/keys/in-flight.ts';
import { NO_TENANT_CACHE } from '../../src/keys/tenant-cache.ts';
import { gatheredStage, leasedStage } from '../../src/observations/client.ts';
import type { FetchBatch } from '../../src/observations/fetch.ts';
import { changedAt, type Demand } from '../../src/observations/planner/demand.ts';
import { systemClock } from '../../src/shared/async/clock.ts';
import { sendingFor } from '../service/sending.ts';
import { createLeases } from '../support/memory-leases.ts';
import { NO_ENTRIES, partsWith } from './parts.ts';
import { entryOf, latest, NOW_MS, nextFrom, rowsOf } from './stages.ts';

/**
 * Outcome of the stage while another process fetches KE, and has, by the time that it is done, an entry of
 * that age.
 */
async function whereOthersFetch(demand: Demand, ageMs: number) {
  const sending = sendingFor();
  const leases = createLeases();
  /** The other process is done once this one has seen that it isn't. */
  const ending: typeof leases = {
    ...leases,
    async look(...asked) {
      const seen = await leases.look(...asked);
      await leases.end(lease);
      return seen;
    },
  };
  const lease = { group: sending.caller.tenant.digest, names: [demand.key], holder: 'other', lifeMs: 5_000 };
  await leases.take(lease);
  const [others, own] = [await rowsOf(1), await rowsOf(2)];
  const cache = { ...NO_TENANT_CACHE, isAccepted: () => true, landed: async () => true };
  const { next, asked } = nextFrom({ KE: own });
  const parts = partsWith({
    inFlight: createInFlight(ending, cache, systemClock, 1_000),
    othersEntries: { ...NO_ENTRIES, read: async () => new Map([[demand.key, entryOf(others, ageMs)]]) },
    othersTtlMs: 1_000,
    now: () => NOW_MS,
  });
  const nextBatch: FetchBatch = async (demands, sending, { onOutcomes }) => {
    const outcomes = await next(demands, sending);
    onOutcomes(demands, [...outcomes.values()]);
  };
  const stage = gatheredStage(leasedStage(nextBatch, parts.leasing));
  const outcomes = await stage([demand], sending);
  const { bill } = sending;
  return { isTakenOver: outcomes.get(demand.key) === others, calls: asked.length, shared: bill.shared };
}

it.each([
  ['came after a source has run', 3, { isTakenOver: true, calls: 0, shared: 1 }],
  ['came at the time of it', 5, { isTakenOver: false, calls: 1, shared: 0 }],
  ['came before', 6, { isTakenOver: false, calls: 1, shared: 0 }],
] as const)('what others have fetched that %s is taken by that alone', async (_, ageMs, told) => {
  expect(await whereOthersFetch(changedAt(latest('KE'), NOW_MS - 5), ageMs)).toEqual(told);
});

it('what others have fetched is taken if it was young enough when it was asked for', async () => {
  expect(await whereOthersFetch(latest('KE', 10), 9)).toMatchObject({ isTakenOver: true, calls: 0 });
  expect(await whereOthersFetch(latest('KE', 10), 10)).toMatchObject({ isTakenOver: false, calls: 1 });
});
