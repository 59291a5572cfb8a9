import { NO_TENANT_CACHE, type TenantCache } from '../../src/keys/tenant-cache.ts';
import type { ObservationEntry } from '../../src/observations/entry-reader.ts';
import type { Fetch, Outcome } from '../../src/observations/fetch.ts';
import { type Demand, demandFor } from '../../src/observations/planner/demand.ts';
import type { ObservationRecord } from '../../src/service/records/observations.ts';
import { sendingFor } from '../service/sending.ts';
import { answerFrom, rowAt, tableWith } from './answers.ts';

export const TTL_MS = 1_000;

export const NOW_MS = 100_000;
/** A tenant cache that holds nothing and knows of a key as the test says. */
export function tenantCacheThat(
  isAccepted: () => boolean,
  refusal: TenantCache['refusal'] = () => null,
): TenantCache {
  return { ...NO_TENANT_CACHE, isAllHere: false, isAccepted, refusal };
}

/** A next stage that answers from a table of outcomes by country, and notes its demands. */
export function nextFrom(outcomes: Readonly<Record<string, Outcome>>, onAsked: () => void = () => {}) {
  const asked: string[][] = [];
  const next: Fetch = async (demands) => {
    asked.push(demands.map(({ countryCode }) => countryCode));
    onAsked();
    return new Map(demands.map(({ key, countryCode }) => [key, outcomes[countryCode] ?? []]));
  };
  return { next, asked };
}

/** Outcomes of demands by country, and the bill. */
export async function fetchBy(fetch: Fetch, demands: readonly Demand[], sending = sendingFor()) {
  const came = await fetch(demands, sending);
  const outcomes = demands.map(({ name, countryCode, maxAgeMs }) => [
    maxAgeMs === Number.POSITIVE_INFINITY ? countryCode : `${countryCode} ${maxAgeMs}`,
    came.get(name),
  ]);
  return { outcomes: Object.fromEntries(outcomes), bill: sending.bill };
}

export const latest = (countryCode: string, maxAgeMs?: number) =>
  demandFor('latest', countryCode, 'm', maxAgeMs);

export async function rowsOf(value: number): Promise<readonly ObservationRecord[]> {
  const rectangle = { countryCodes: ['KE'], metricKeys: ['m'] };
  return (await answerFrom(tableWith([rowAt('KE', 'm', 2025, value)]), { mode: 'latest', rectangle })).list
    .rows;
}

/** An entry of this age. */
export function entryOf(rows: readonly ObservationRecord[], ageMs: number): ObservationEntry {
  return { rows, years: null, atMs: NOW_MS - ageMs, checkedAtMs: NOW_MS - ageMs, wantedAtMs: 0 };
}
