import { randomUUID } from 'node:crypto';
import type { NotedOperation } from '../../service/call.ts';
import { type IssuedKey, msOf } from './key.ts';
import { type KeyStore, MEASURES, OTHER, UsageBook, type UsageRow } from './key-store.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Milliseconds for which counts are gathered before they are written. */
const GATHER_MS = 1_000;

/** Headers by which clients name themselves, as Apollo's, The Guild's and others do. */
const CLIENT_HEADERS = ['apollographql-client-name', 'graphql-client-name', 'x-graphql-client-name'] as const;

/** Keys that metrics tell apart; the others are one. */
const MAX_KEYS = 100;

/** Characters beyond which nobody looks at a name. */
const MAX_NAME = 64;

const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);

const plainName = (text: string) => text.replace(/[^\x20-\x7e]+/g, '?').slice(0, MAX_NAME);

/** Returns the name that a client gives itself; empty if it gives none. */
export function clientOf(headers: Readonly<Record<string, string>>): string {
  const header = CLIENT_HEADERS.find((name) => headers[name] !== undefined);
  return plainName(headers[header ?? ''] ?? '');
}

/** Gathers the usage of issued keys in this process, and adds it to that of the store. */
export class Usage {
  readonly #store: KeyStore;
  readonly #now: () => number;
  #gathered = new UsageBook();
  /** Rows that are on their way, under a name by which they count once. */
  #leaving: { readonly batch: string; readonly rows: readonly UsageRow[] } | null = null;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | null = null;
  /** Sums since the process began, by key and measure. */
  readonly #sums = new Map<string, Record<string, number>>();

  constructor(store: KeyStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  note({ name: key }: IssuedKey, client: string, document: string, operation: NotedOperation): void {
    const { calls, shared, cached, errorCodes, isPart } = operation;
    const counts: Record<string, number> = { operations: isPart ? 0 : 1, calls, shared, cached };
    if (errorCodes.length > 0) counts.failed = 1;
    for (const code of errorCodes) counts[code] = (counts[code] ?? 0) + 1;
    const row = { day: dayOf(this.#now()), key, client, document: plainName(document), counts };
    this.#gathered.add(row);
    const name = this.#sums.has(key) || this.#sums.size < MAX_KEYS ? key : OTHER;
    const sums = this.#sums.get(name) ?? {};
    for (const measure of MEASURES) sums[measure] = (sums[measure] ?? 0) + (counts[measure] ?? 0);
    this.#sums.set(name, sums);
    this.#timer ??= setTimeout(() => void this.flush(), GATHER_MS).unref();
  }

  /** Lists the sums since the process began, for metrics. */
  totals() {
    return [...this.#sums].flatMap(([key, sums]) =>
      Object.entries(sums).map(([measure, count]) => ({ key, measure, count })),
    );
  }

  /** Writes what has been gathered. If the store can't be reached, it is kept, and written later. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // Only one batch is on its way; what is noted in its time goes with the next.
    while (this.#flushing !== null) await this.#flushing;
    this.#flushing = this.#write().finally(() => {
      this.#flushing = null;
    });
    await this.#flushing;
  }

  async #write(): Promise<void> {
    const isAgain = this.#leaving !== null;
    if (!(await this.#send()) || !isAgain) return;
    await this.#send();
  }

  /** Tells if nothing is on its way any more. */
  async #send(): Promise<boolean> {
    if (this.#leaving === null) {
      const rows = this.#gathered.rows();
      if (rows.length === 0) return true;
      this.#leaving = { batch: randomUUID(), rows };
      this.#gathered = new UsageBook();
    }
    try {
      const keptFrom = dayOf(this.#now() - KEPT_DAYS * DAY_MS);
      await this.#store.addUsage(this.#leaving.rows, this.#leaving.batch, keptFrom);
      this.#leaving = null;
      return true;
    } catch {
      this.#timer ??= setTimeout(() => void this.flush(), GATHER_MS).unref();
      return false;
    }
  }
}

/** Days that usage is kept. */
export const KEPT_DAYS = 92;

/** Days whose calls tell the pace of a key. */
const PACE_DAYS = 7;

/** A row of usage as operators see it. */
export interface ShownUsage {
  readonly day: string;
  readonly key: string;
  readonly client: string;
  readonly document: string;
  readonly operations: number;
  readonly failed: number;
  readonly calls: number;
  readonly shared: number;
  readonly cached: number;
  /** Percent of the answers of the service that took no call; null if nothing was asked. */
  readonly cacheShare: number | null;
  /** Errors by their codes. */
  readonly errors: Readonly<Record<string, number>>;
}

/** Calls that a month will have taken, if the pace of the last week holds. */
export interface Forecast {
  readonly name: string;
  readonly of: 'key' | 'group';
  /** Calls of the month so far. */
  readonly calls: number;
  readonly callsADay: number;
  readonly atMonthEnd: number;
  /** Null for any number. */
  readonly limit: number | null;
  /** Day on which the limit is reached; null if that isn't in this month. */
  readonly spentOn: string | null;
}

export function shownUsage({ day, key, client, document, counts }: UsageRow): ShownUsage {
  const { operations = 0, failed = 0, calls = 0, shared = 0, cached = 0 } = counts;
  const free = shared + cached;
  const known: ReadonlySet<string> = new Set(MEASURES);
  const errors = Object.fromEntries(
    Object.entries(counts)
      .filter(([measure]) => !known.has(measure))
      .toSorted(([a], [b]) => a.localeCompare(b)),
  );
  const cacheShare = free + calls === 0 ? null : Math.round((100 * free) / (free + calls));
  return { day, key, client, document, operations, failed, calls, shared, cached, cacheShare, errors };
}

export const USAGE_COLUMNS = [
  'day',
  'key',
  'client',
  'document',
  'operations',
  'failed',
  'calls',
  'shared',
  'cached',
  'cacheShare',
  'errors',
] as const;

/** Returns the cells of a row of a table; errors as `RATE_LIMITED=2`. */
export function usageCells(row: ShownUsage): (string | number | null)[] {
  const { errors, ...cells } = row;
  const told = Object.entries(errors).map(([code, count]) => `${code}=${count}`);
  return [...Object.values(cells), told.join(' ')];
}

/** Lists the days (UTC) up to an instant, the latest last. */
export function daysUpTo(nowMs: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => dayOf(nowMs - (count - 1 - i) * DAY_MS));
}

/** @param keys the newest first; the first of each name tells its limits */
export function forecastsOf(
  rows: readonly UsageRow[],
  keys: readonly IssuedKey[],
  nowMs: number,
): readonly Forecast[] {
  const groups = new Map<string, { readonly members: Set<string>; readonly limit: number | null }>();
  for (const { name, group } of keys) {
    if (group === null) continue;
    const known = groups.get(group.name) ?? { members: new Set(), limit: group.perMonth };
    known.members.add(name);
    groups.set(group.name, known);
  }
  const limits = new Map<string, number | null>();
  for (const { name, perMonth } of keys) if (!limits.has(name)) limits.set(name, perMonth);
  const sinceOf = (names: ReadonlySet<string>) =>
    Math.min(...keys.filter(({ name }) => names.has(name)).map(({ createdAt }) => msOf(createdAt)));
  const told = (name: string, of: Forecast['of'], names: ReadonlySet<string>, limit: number | null) => ({
    name,
    of,
    ...paceOf(
      rows.filter(({ key }) => names.has(key)),
      sinceOf(names),
      nowMs,
      limit,
    ),
    limit,
  });
  return [
    ...[...limits].map(([name, limit]) => told(name, 'key', new Set([name]), limit)),
    ...[...groups].map(([name, { members, limit }]) => told(name, 'group', members, limit)),
  ];
}

/** @param sinceMs instant before which there can have been no calls */
function paceOf(rows: readonly UsageRow[], sinceMs: number, nowMs: number, limit: number | null) {
  const date = new Date(nowMs);
  const endsAtMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  const [month, fromMs] = [dayOf(nowMs).slice(0, 7), startOf(nowMs) - (PACE_DAYS - 1) * DAY_MS];
  const sum = (some: readonly UsageRow[]) =>
    some.reduce((calls, { counts }) => calls + (counts.calls ?? 0), 0);
  const calls = sum(rows.filter(({ day }) => day.startsWith(month)));
  const lately = sum(rows.filter(({ day }) => day >= dayOf(fromMs)));
  // An hour at the least: the first minutes of a key say little of its days.
  const days = Math.max(HOUR_MS, nowMs - Math.max(fromMs, sinceMs)) / DAY_MS;
  const callsADay = lately / days;
  const atMonthEnd = Math.round(calls + (callsADay * (endsAtMs - nowMs)) / DAY_MS);
  const isSpent = limit !== null && atMonthEnd >= limit && limit > 0;
  const spentAtMs = isSpent ? nowMs + (Math.max(0, limit - calls) / callsADay) * DAY_MS : null;
  return {
    calls,
    callsADay: Math.round(callsADay),
    atMonthEnd,
    spentOn: spentAtMs === null || !(spentAtMs < endsAtMs) ? null : dayOf(spentAtMs),
  };
}

const startOf = (atMs: number) => Math.floor(atMs / DAY_MS) * DAY_MS;
