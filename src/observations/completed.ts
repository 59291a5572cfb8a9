import { mapValue } from '../async/promise-or-value.ts';
import { Failure } from '../errors.ts';
import { wholeRuns } from '../planner/completeness.ts';
import type { RowsOf } from '../planner/cover.ts';
import { keyOf, pairKey } from '../planner/demand.ts';
import { type Learned, mayNameYears } from '../planner/learned.ts';
import { widened, type YearRange } from '../planner/year-range.ts';
import type { Sending } from '../upstream/call.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';
import {
  type DataCalls,
  incomplete,
  learnLength,
  pairsOf,
  type Rows,
  type SentRow,
  sentOf,
  sentRows,
} from './data-calls.ts';
import type { ObservationEntries } from './entries.ts';
import { inWhole } from './estimate.ts';
import { type FetchedRows, type FetchTask, NOT_WHOLE, settlingFailures, sum, type Task } from './task.ts';
import { type AskYears, fetchYears, type YearsReply } from './years.ts';

/** Rounds in which a cut answer is asked for in smaller pieces before it is given up. */
const MAX_ROUNDS = 8;

export interface CompletedParts {
  readonly calls: Pick<DataCalls, 'ask' | 'isCutShort'>;
  readonly learned: Learned;
  readonly keep: ObservationEntries['keep'];
}

/** Rows by their pairs. */
type Runs = ReadonlyMap<string, readonly SentRow[]>;

/** A cut answer, the task that it answers, and the party on whose behalf the rest is asked for. */
interface CutAnswer {
  readonly task: Task;
  readonly answer: Rows;
  readonly sending: Sending;
}

/**
 * Hands up whole answers. Asks for the rest of a cut one, and settles its pairs here. Pairs that can't be had whole are
 * UPSTREAM_INCOMPLETE.
 */
export function completed(next: FetchTask, parts: CompletedParts): FetchTask {
  const { calls, learned } = parts;
  return (task, sending, receive) =>
    next(task, sending, (part, answer) =>
      settlingFailures(part, () => {
        const { rectangle, pairs } = part;
        for (const code of rectangle.countryCodes) learned.answered.countries.add(code.toUpperCase());
        for (const key of rectangle.metricKeys) learned.answered.metrics.add(key);
        noteFigured(answer.list.rows, learned);
        return mapValue(calls.isCutShort(part, answer, sending), (isCut) => {
          if (!isCut) return receive(part, answer);
          return pairs.length === 0 ? NOT_WHOLE : completeYears({ task: part, answer, sending }, parts);
        });
      }),
    );
}

/** Notes the countries and metrics that the service holds figures of. */
function noteFigured(rows: Rows['list']['rows'], { figured }: Learned): void {
  const countries = new Set<string>();
  const metrics = new Set<string>();
  for (const { countryCode, metricKey } of rows) {
    countries.add(countryCode);
    metrics.add(metricKey);
  }
  for (const code of countries) figured.countries.add(code.toUpperCase());
  for (const key of metrics) figured.metrics.add(key);
}

/**
 * Gets the rest of an answer, with whole series if years can't be had whole: their total may have counted all years.
 */
async function completeYears(cut: CutAnswer, parts: CompletedParts): Promise<FetchedRows> {
  const { task, answer } = cut;
  if (answer.years === null) return complete(cut, parts);
  const inWholeAgain = () => task.replan(task.pairs, { ...inWhole(task.pairs, parts), round: 0 });
  // Nothing tells how much longer whole series are than their years.
  if (!mayNameYears(parts.learned) && totalBeyond(answer) === null) return inWholeAgain();
  try {
    return await complete(cut, parts);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'UPSTREAM_INCOMPLETE') throw error;
    parts.learned.learn('yearsParam', 'ignored');
    return inWholeAgain();
  }
}

/**
 * Keeps pairs that look whole, and asks for the others again, planned by the rows that the total leaves. Once
 * everything came, the total proves the kept ones.
 * @throws Failure UPSTREAM_INCOMPLETE if the rest can't be had
 */
async function complete(cut: CutAnswer, parts: CompletedParts): Promise<FetchedRows> {
  const { task, answer } = cut;
  const { mode, rectangle, pairs, rowsOf, round } = task;
  const total = totalBeyond(answer);
  const mayComeByLimit = learnCut(answer, parts.learned);
  if (!mayComeByLimit && rectangle.countryCodes.length === 1 && rectangle.metricKeys.length === 1) {
    return completePair(cut, parts);
  }
  if (round >= MAX_ROUNDS) throw incomplete(answer.list.received, answer.list.meta.total);

  const whole = wholeRunsOf(task, answer);
  const kept = keptOf(task, whole);
  const again = kept.size > 0 ? pairsOf(rectangle).filter((pair) => !kept.has(keyOf(pair))) : pairs;
  // An answer with other years than the call named is one of whole series, and so is the rest.
  const years = mayNameYears(parts.learned) ? answer.years : null;
  const replanned = {
    years,
    rowsOf: total === null || mode === 'series' ? scaled(task, answer, whole, parts.learned) : rowsOf,
    round: round + 1,
  };
  const rest = await task.replan(again, replanned);
  if (kept.size === 0) return rest;

  const rows = rest.rows + rowsIn(kept);
  // If the service turned out to take no years, the rest was counted otherwise.
  const isCountedAlike = years === null || mayNameYears(parts.learned);
  if (rest.isWhole && rows === total && isCountedAlike) {
    settleKept(cut, kept, parts);
    return { rows, isWhole: true };
  }
  const keptPairs = pairs.filter((pair) => kept.has(keyOf(pair)));
  return sum([rest, await task.replan(keptPairs, replanned)]);
}

/**
 * Learns from a cut answer at how many rows the service cuts.
 * @returns true if a higher limit may bring more
 */
function learnCut(answer: Rows, learned: Learned): boolean {
  const { list, limit } = answer;
  const { received, meta } = list;
  const total = totalBeyond(answer);
  if (limit === undefined && total !== null) {
    learned.learn('defaultRows', Math.min(learned.defaultRows, received));
  }
  const mayAskForMore = limit === undefined && learned.limitParam !== 'refused';
  const isLimitTold = total !== null || meta.limit !== null || learned.limitEffect === 'ignored';
  if (!mayAskForMore && isLimitTold) {
    learned.learn('maxRows', Math.min(learned.maxRows, meta.limit ?? received));
  }
  return mayAskForMore;
}

/** The runs of pairs that look whole, if the service tells a total. */
function wholeRunsOf({ mode }: Task, answer: Rows): Runs {
  const sent = totalBeyond(answer) === null ? null : sentRows(answer);
  return sent === null ? new Map() : wholeRuns(sent, mode);
}

/** The runs that the total can prove: all of them, or none. */
function keptOf({ rectangle, pairs }: Task, whole: Runs): Runs {
  const isWanted = new Set(pairs.map(keyOf));
  const left = pairsOf(rectangle).filter((pair) => !whole.has(keyOf(pair)));
  return left.every((pair) => isWanted.has(keyOf(pair))) ? whole : new Map();
}

/**
 * Rows to plan the rest by: for pairs that look whole, the rows that came; for the others, their share of the rest of
 * the total, and at least the rows that came of each.
 */
function scaled({ mode, rectangle }: Task, answer: Rows, whole: Runs, learned: Learned): RowsOf {
  const total = totalBeyond(answer);
  // An answer as long as a limit, of as many rows as the service counts, is whole unless the total counts only sent
  // rows.
  const unknown = answer.list.meta.total === null ? learned.maxRows * 2 : learned.maxRows + 1;
  const rowsLeft = total === null ? unknown : total - rowsIn(whole);
  // At least one row each: the total shows that some of these are longer than was thought.
  const { years } = answer;
  const known = years === null ? learned.seriesRows : learned.rowsWithin(widened(years));
  const guess: RowsOf = (c, m) => (mode === 'latest' ? 1 : Math.max(1, known(c, m)));
  const expected = pairsOf(rectangle)
    .filter((pair) => !whole.has(keyOf(pair)))
    .reduce((rows, { countryCode, metricKey }) => rows + guess(countryCode, metricKey), 0);
  // A pair has at least the rows that came of it. So the pairs that are left share no call with it again that can't
  // hold both.
  const cameOf: RowsOf = (c, m) => sentOf(answer.groups, pairKey(c, m));
  if (mode === 'series' && years === null) {
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
  { task, answer, sending }: CutAnswer,
  kept: Runs,
  { learned, keep }: CompletedParts,
): void {
  const { mode, rectangle, pairs, settle } = task;
  const isBlank = (run: readonly SentRow[]) => mode === 'latest' && figuresIn(run).length === 0;
  const whole = pairsOf(rectangle).flatMap((pair) => {
    const run = kept.get(keyOf(pair));
    return run === undefined || isBlank(run) ? [] : { pair, rows: figuresIn(run) };
  });
  const { years } = answer;
  keep(sending.caller.keyDigest, { mode, years }, whole, answer.receivedAt);
  for (const pair of pairs) {
    const run = kept.get(keyOf(pair));
    if (run === undefined) continue;
    const rows = figuresIn(run);
    if (mode === 'series') learnLength(pair, { years, rows, sent: run.length }, learned);
    settle(pair, isBlank(run) ? 'no figure' : rows);
  }
}

/** Gets the rest of a single series, which only a range of years can split. */
async function completePair(cut: CutAnswer, parts: CompletedParts): Promise<FetchedRows> {
  const { task, answer, sending } = cut;
  const { mode, rectangle, pairs, settle } = task;
  const { learned, keep } = parts;
  const { received, meta } = answer.list;
  const sent = sentRows(answer);
  if (mode === 'latest' || sent === null) throw incomplete(received, meta.total);
  const total = totalBeyond(answer);
  const whole =
    (await fetchYears({ rows: sent, total, isCut: true }, askingYears(cut, parts))) ??
    (await askForTotal(cut, total, parts));
  if (whole === null) throw incomplete(received, meta.total);
  const rows = figuresIn(whole);
  const figures = pairsOf(rectangle).map((pair) => ({ pair, rows }));
  const { years } = answer;
  keep(sending.caller.keyDigest, { mode, years }, figures, answer.receivedAt);
  for (const pair of pairs) {
    learnLength(pair, { years, rows, sent: whole.length }, learned);
    settle(pair, rows);
  }
  return { rows: whole.length, isWhole: true };
}

function askingYears({ task, answer, sending }: CutAnswer, { calls, learned }: CompletedParts): AskYears {
  const { mode, rectangle } = task;
  const all = namedBy(answer);
  const limit = learned.limitParam === 'accepted' ? learned.maxRows : undefined;
  return async (from, to) => {
    const named = { from: from ?? all?.from ?? null, to: to ?? all?.to ?? null };
    const part = await calls.ask({ mode, rectangle, limit, named }, sending);
    // There are figures of the pair: a 404 can only mean that there are none of these years.
    if (part.isRefused) return part.outcome instanceof Error ? null : NO_ROWS;
    const rows = sentRows(part);
    return rows && { rows, total: totalBeyond(part), isCut: await calls.isCutShort(task, part, sending) };
  };
}

/**
 * Asks for as many rows as there are, if a limit was refused: that one may have been too high, and one that is taken
 * too low.
 */
async function askForTotal(
  { task, answer, sending }: CutAnswer,
  total: number | null,
  { calls, learned }: CompletedParts,
): Promise<readonly SentRow[] | null> {
  const { limitParam, refusedLimit } = learned;
  const isRefusing = limitParam === 'refused' || refusedLimit < Number.POSITIVE_INFINITY;
  if (total === null || !isRefusing || total >= refusedLimit) return null;
  const { mode, rectangle } = task;
  const all = await calls.ask({ mode, rectangle, limit: total, named: namedBy(answer) }, sending);
  if (all.isRefused) learned.learn('refusedLimit', total);
  if (all.isRefused || all.list.received < total) return null;
  learned.learn('maxRows', total);
  return sentRows(all);
}

const NO_ROWS: YearsReply = { rows: [], total: null, isCut: false };

/** The years that the call for an answer named. */
function namedBy({ years }: Rows): YearRange | null {
  return years && widened(years);
}

/**
 * The total if it counts more rows than came; else null: it may be all there is, or count only sent rows, and tells
 * nothing.
 */
function totalBeyond({ list: { received, meta } }: Rows): number | null {
  return meta.total !== null && meta.total > received ? meta.total : null;
}

function rowsIn(runs: Runs): number {
  return [...runs.values()].reduce((rows, run) => rows + run.length, 0);
}

function figuresIn(rows: readonly SentRow[]): readonly ObservationRecord[] {
  return rows.flatMap(({ figure }) => figure ?? []);
}
