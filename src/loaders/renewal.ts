import { LRUCache } from 'lru-cache';
import type { Shelf } from '../cache/shelf.ts';
import { type Ask, type Freshness, heldRecords } from '../upstream/cached.ts';
import { makeCall, type Sending } from '../upstream/call.ts';
import { etlStatus } from '../upstream/endpoints.ts';
import type { SourceRecord } from '../upstream/records/platform.ts';
import type { Cell } from './cells.ts';

/**
 * Tells which figures past their time still hold. The service announces no revisions, but one call says when each
 * source last changed: figures whose source has not changed since they came are as good as new.
 */
export interface Renewal {
  /**
   * When each cell was last known to be what the service would send: when it came, or when its sources were last looked
   * at and had not changed since. Spends a call on looking only where that is likely to save more than one.
   */
  check(cells: readonly Cell[], prospect: Prospect, sending: Sending): Promise<(cell: Cell) => number>;
  /** Counts data calls of a key, by which it is judged what a look may save. */
  spent(partition: string, calls: number): void;
}

/** What is at stake when cells are past their time. */
export interface Prospect {
  /** Calls that it takes to fetch everything that is missing or past its time. */
  readonly calls: () => number;
  /** Calls that it takes to fetch what is missing alone. */
  readonly callsIfRenewed: () => number;
}

export interface RenewalParts {
  readonly ask: Ask;
  readonly shelf: Shelf;
  readonly freshness: Freshness;
  readonly now: () => number;
  /** Whether a call may be spent on looking; what was found is used all the same. */
  readonly mayAsk: boolean;
}

/** How far the service's clock may be from ours. */
const CLOCK_SKEW_MS = 60_000;

/** Share of expired cells that a look is taken to renew, until looks have shown. */
const HOPED_SHARE = 0.9;

/** How much the last look counts for the next. */
const LEARNING_RATE = 0.3;

/** How much hope grows again with each look that was not taken. */
const RECOVERY = 0.01;

/** Keys whose traffic is remembered. */
const MAX_KEYS = 10_000;

/** Data calls of a key in the interval that runs and in the one before. */
interface Traffic {
  interval: number;
  calls: number;
  callsBefore: number;
}

export function createRenewal({ ask, shelf, freshness, now, mayAsk }: RenewalParts): Renewal {
  const intervalMs = Math.max(1, freshness.ttlMs);
  const traffic = new LRUCache<string, Traffic>({ max: MAX_KEYS });
  /** When the sources were last asked for, whatever came of it. */
  const askedAtMs = new LRUCache<string, number>({ max: MAX_KEYS });
  let share = HOPED_SHARE;

  function trafficOf(partition: string): Traffic {
    const interval = Math.floor(now() / intervalMs);
    const held = traffic.get(partition) ?? { interval, calls: 0, callsBefore: 0 };
    if (held.interval !== interval) {
      held.callsBefore = held.interval === interval - 1 ? held.calls : 0;
      held.calls = 0;
      held.interval = interval;
    }
    traffic.set(partition, held);
    return held;
  }

  /** Whether a look is likely to save more calls than the one it costs, now and until cells expire again. */
  function isWorthIt(partition: string, { calls, callsIfRenewed }: Prospect): boolean {
    const traffic = trafficOf(partition);
    const callsNow = calls();
    const callsLater = Math.max(0, Math.max(traffic.calls, traffic.callsBefore) - callsNow);
    return share * (callsNow - callsIfRenewed() + callsLater) > 1;
  }

  /** What is known of the sources, as of when; null where it is older than data may be. */
  async function look(prospect: Prospect, sending: Sending): Promise<Sources | null> {
    const { partition } = sending.caller;
    const held = await heldRecords(etlStatus, {}, makeCall(etlStatus, {}), partition, shelf);
    if (held?.records && now() - held.atMs < freshness.ttlMs) return sourcesIn(held.records, held.atMs);
    const mayLook = mayAsk && now() - (askedAtMs.get(partition) ?? 0) >= intervalMs;
    if (!mayLook) return null;
    if (!isWorthIt(partition, prospect)) {
      share = Math.min(HOPED_SHARE, share + RECOVERY);
      return null;
    }
    askedAtMs.set(partition, now());
    try {
      const records = await ask(etlStatus, {}, sending, 0);
      return records === null ? null : sourcesIn(records, now());
    } catch {
      // Whatever keeps the sources from us will keep the figures too, and be told with them.
      sending.signal.throwIfAborted();
      return null;
    }
  }

  return {
    async check(cells, prospect, sending) {
      const asItCame = ({ atMs }: Cell) => atMs;
      if (cells.length === 0) return asItCame;
      const wasAskedAtMs = askedAtMs.get(sending.caller.partition);
      const sources = await look(prospect, sending);
      if (sources === null) return asItCame;
      const checkedAtMs = (cell: Cell) =>
        isUnchanged(cell, sources) ? Math.max(cell.atMs, sources.atMs) : cell.atMs;
      if (askedAtMs.get(sending.caller.partition) !== wasAskedAtMs) {
        const renewed = cells.filter((cell) => isUnchanged(cell, sources)).length;
        share += LEARNING_RATE * (renewed / cells.length - share);
      }
      return checkedAtMs;
    },
    spent(partition, calls) {
      if (calls > 0) trafficOf(partition).calls += calls;
    },
  };
}

/** When each source last changed, as was known at an instant. Milliseconds since the epoch. */
interface Sources {
  readonly atMs: number;
  /** Without those that don't say, or have never run well. */
  readonly changedAtMs: ReadonlyMap<string, number>;
  /** Infinite where none says. */
  readonly lastChangeAtMs: number;
}

function sourcesIn(records: readonly SourceRecord[], atMs: number): Sources {
  const changedAtMs = new Map<string, number>();
  for (const { key, lastSuccessfulRefresh } of records) {
    const changedAt = Date.parse(lastSuccessfulRefresh ?? '');
    if (!Number.isNaN(changedAt)) changedAtMs.set(key.toLowerCase(), changedAt);
  }
  const lastChangeAtMs =
    changedAtMs.size === 0 ? Number.POSITIVE_INFINITY : Math.max(...changedAtMs.values());
  return { atMs, changedAtMs, lastChangeAtMs };
}

/** Whether none of its sources has changed since a cell came; for an absent figure, which may come from any, none at all. */
function isUnchanged({ rows, atMs }: Cell, { changedAtMs, lastChangeAtMs }: Sources): boolean {
  const changes =
    rows.length === 0
      ? [lastChangeAtMs]
      : rows.map(({ source }) => changedAtMs.get(source.toLowerCase()) ?? Number.POSITIVE_INFINITY);
  return changes.every((changeMs) => changeMs + CLOCK_SKEW_MS <= atMs);
}
