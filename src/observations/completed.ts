import { wholeRuns } from '../planner/completeness.ts';
import type { Pair, RowsOf } from '../planner/cover.ts';
import { pairKey } from '../planner/demand.ts';
import type { Learned } from '../planner/learned.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';
import {
  type DataCalls,
  incomplete,
  pairsOf,
  type Rows,
  type SentRow,
  sentOf,
  sentRows,
} from './data-calls.ts';
import type { ObservationEntries } from './entries.ts';
import type { FetchPairs, Task } from './tasks.ts';
import { type AskYears, fetchYears } from './years.ts';

/** Rounds in which a cut answer is asked for in smaller pieces before it is given up. */
const MAX_ROUNDS = 8;

export interface CompletionParts {
  readonly calls: DataCalls;
  readonly fetchPairs: FetchPairs;
  readonly learned: Learned;
  readonly keep: ObservationEntries['keep'];
  readonly keyDigest: string;
}

/**
 * Gets the rest of a cut answer and settles the task.
 * @returns as {@link FetchPairs}
 * @throws Failure UPSTREAM_INCOMPLETE where the rest can't be had
 */
export type Complete = (task: Task, reply: Rows) => Promise<number | null>;

export function createCompletion(parts: CompletionParts): Complete {
  const { calls, fetchPairs, learned, keep, keyDigest } = parts;

  /**
   * Pairs that look whole are kept, the others are asked for again, planned by what the total says is left; once
   * everything came, the total proves what was kept.
   */
  async function complete(task: Task, reply: Rows): Promise<number | null> {
    const { list } = reply;
    const { mode, rectangle, wanted, rowsOf, settle, round } = task;
    const { received, meta } = list;
    const told = totalBeyond(reply);
    if (!learnCut(reply) && rectangle.countryCodes.length === 1 && rectangle.metricKeys.length === 1) {
      return completePair(task, reply);
    }
    if (round >= MAX_ROUNDS) throw incomplete(received, meta.total);

    const kept = keptOf(task, reply);
    const again = kept.size > 0 ? pairsOf(rectangle).filter((pair) => !kept.has(keyOf(pair))) : wanted;
    const replanned = told === null || mode === 'series' ? scaled(task, reply) : rowsOf;
    const keptRows = [...kept.values()].reduce((rows, run) => rows + run.length, 0);
    const count = await fetchPairs(mode, again, replanned, settle, round + 1);
    if (kept.size === 0) return count;

    const keptPairs = wanted.filter((pair) => kept.has(keyOf(pair)));
    if (count !== null && count + keptRows === told) {
      settleKept(task, reply, kept);
      return count + keptRows;
    }
    const refetched = await fetchPairs(mode, keptPairs, replanned, settle, round + 1);
    return count === null || refetched === null ? null : count + refetched;
  }

  /**
   * Learns from a cut answer where the service cuts.
   * @returns whether more may come where a higher limit is asked for
   */
  function learnCut(reply: Rows): boolean {
    const { list, limit } = reply;
    const { received, meta } = list;
    const told = totalBeyond(reply);
    if (limit === undefined && told !== null) {
      learned.learn('defaultRows', Math.min(learned.defaultRows, received));
    }
    const mayAskForMore = limit === undefined && learned.limitParam !== 'refused';
    const isLimitTold = told !== null || meta.limit !== null || learned.limitEffect === 'ignored';
    if (!mayAskForMore && isLimitTold) {
      learned.learn('maxRows', Math.min(learned.maxRows, meta.limit ?? received));
    }
    return mayAskForMore;
  }

  /** The runs of pairs that look whole, where the service tells a total. */
  function wholeRunsOf({ mode }: Task, reply: Rows): ReadonlyMap<string, SentRow[]> {
    const sent = totalBeyond(reply) === null ? null : sentRows(reply);
    return sent === null ? new Map() : wholeRuns(sent, mode);
  }

  /** The runs of pairs that look whole, where the total can prove them; none where it can't. */
  function keptOf(task: Task, reply: Rows): ReadonlyMap<string, SentRow[]> {
    const { rectangle, wanted } = task;
    const looksWhole = wholeRunsOf(task, reply);
    const isWanted = new Set(wanted.map(keyOf));
    const left = pairsOf(rectangle).filter((pair) => !looksWhole.has(keyOf(pair)));
    return left.every((pair) => isWanted.has(keyOf(pair))) ? looksWhole : new Map();
  }

  /**
   * Rows to plan the rest by: what came of pairs that look whole, and the rest of the total spread over the others, at
   * least what has come of each.
   */
  function scaled(task: Task, reply: Rows): RowsOf {
    const { mode, rectangle } = task;
    const told = totalBeyond(reply);
    const whole = wholeRunsOf(task, reply);
    const wholeRows = [...whole.values()].reduce((rows, run) => rows + run.length, 0);
    const rowsLeft = told === null ? learned.maxRows * 2 : told - wholeRows;
    // At least one row each: the total shows that some of these are longer than was thought.
    const guess: RowsOf = (c, m) => (mode === 'latest' ? 1 : Math.max(1, learned.seriesRows(c, m)));
    const expected = pairsOf(rectangle)
      .filter((pair) => !whole.has(keyOf(pair)))
      .reduce((rows, { countryCode, metricKey }) => rows + guess(countryCode, metricKey), 0);
    // What came of a pair is the least it has: whoever is left is not put into one call with it again unawares.
    const cameOf: RowsOf = (c, m) => sentOf(reply.groups, pairKey(c, m));
    if (mode === 'series') {
      for (const { countryCode, metricKey } of pairsOf(rectangle)) {
        const least = cameOf(countryCode, metricKey);
        if (least > learned.seriesRows(countryCode, metricKey))
          learned.learnSeries(countryCode, metricKey, least);
      }
    }
    return (c, m) =>
      whole.has(pairKey(c, m))
        ? cameOf(c, m)
        : Math.max(cameOf(c, m), Math.ceil((guess(c, m) * rowsLeft) / Math.max(1, expected)));
  }

  /** Settles the pairs whose runs the total has proved. */
  function settleKept(
    { mode, rectangle, wanted, settle }: Task,
    { receivedAt }: Rows,
    kept: ReadonlyMap<string, readonly SentRow[]>,
  ): void {
    const isBlank = (run: readonly SentRow[]) => mode === 'latest' && figuresIn(run).length === 0;
    const whole = pairsOf(rectangle).flatMap((pair) => {
      const run = kept.get(keyOf(pair));
      return run === undefined || isBlank(run) ? [] : { pair, rows: figuresIn(run) };
    });
    keep(keyDigest, mode, whole, receivedAt);
    for (const pair of wanted) {
      const run = kept.get(keyOf(pair));
      if (run === undefined) continue;
      if (mode === 'series') learned.learnSeries(pair.countryCode, pair.metricKey, run.length);
      settle(pair, isBlank(run) ? 'no figure' : figuresIn(run));
    }
  }

  /** Gets the rest of a single series, which only a range of years can split. */
  async function completePair({ mode, rectangle, wanted, settle }: Task, reply: Rows): Promise<number> {
    const { list, receivedAt } = reply;
    const { received, meta } = list;
    const sent = sentRows(reply);
    if (mode === 'latest' || sent === null) throw incomplete(received, meta.total);
    const limit = learned.limitParam === 'accepted' ? learned.maxRows : undefined;
    const askYears: AskYears = async (startYear, endYear) => {
      const part = await calls.ask(mode, rectangle, limit, { startYear, endYear });
      const rows = part.isRefused ? null : sentRows(part);
      if (part.isRefused || rows === null) return null;
      return { rows, isCut: await calls.isCutShort(mode, rectangle, part) };
    };
    const told = totalBeyond(reply);
    const whole = (await fetchYears(sent, told, askYears)) ?? (await askForTotal());
    if (whole === null) throw incomplete(received, meta.total);
    /** Asks for as many rows as there are, where no limit is taken: the one that was refused may have been too high. */
    async function askForTotal(): Promise<readonly SentRow[] | null> {
      if (told === null || learned.limitParam !== 'refused') return null;
      const all = await calls.ask(mode, rectangle, told);
      if (all.isRefused || all.list.received < told) return null;
      learned.learn('maxRows', told);
      return sentRows(all);
    }
    const rows = figuresIn(whole);
    keep(
      keyDigest,
      mode,
      pairsOf(rectangle).map((pair) => ({ pair, rows })),
      receivedAt,
    );
    for (const pair of wanted) {
      learned.learnSeries(pair.countryCode, pair.metricKey, whole.length);
      settle(pair, rows);
    }
    return whole.length;
  }

  return complete;
}

function keyOf({ countryCode, metricKey }: Pair): string {
  return pairKey(countryCode, metricKey);
}

/** The total where it counts more rows than came; else it may be all there is, or a count of what came, and tells nothing. */
function totalBeyond({ list: { received, meta } }: Rows): number | null {
  return meta.total !== null && meta.total > received ? meta.total : null;
}

function figuresIn(rows: readonly SentRow[]): readonly ObservationRecord[] {
  return rows.flatMap(({ figure }) => figure ?? []);
}
