import { observations } from '../service/endpoints.ts';
import { Failure } from '../shared/errors.ts';
import {
  type FetchedRows,
  learnLength,
  NONE_WHOLE,
  NOT_WHOLE,
  type Repair,
  settleAs,
  settlingFailures,
  sum,
  type Task,
} from './called.ts';
import { type Rows, sentOf } from './data-calls.ts';
import { cellsOf, keyOfPair, type Pair, pairKey, pairsOf, type RowsOf } from './planner/demand.ts';
import { HIGHEST_LIMIT, type Learned, mayNameYears } from './planner/learned.ts';
import { expectedOf, inWhole } from './planner/modes.ts';
import { putInOrder } from './planner/newest.ts';
import { type Cut, fetchByYears, type SentRows, sentRows, totalBeyond } from './series-by-years.ts';

/** How often the rest of an answer is planned again: each time at least halves it. */
const MAX_ROUNDS = 20;

/** Falls back on whole series if years can't be had whole: a total that is not reached may count all years. */
export const repairCut: Repair['cut'] = async (task, answer, sending, means) => {
  const { learned } = means;
  const cut: Cut = { task, answer, sending, means };
  if (answer.years === null) return keepAndFetchRest(cut);
  const inWholeAgain = () => task.replan(task.pairs, { ...inWhole(task.pairs, means), round: 0 });
  // How much longer whole series are than these years is unknown.
  if (!mayNameYears(learned.facts()) && totalBeyond(answer) === null) return inWholeAgain();
  try {
    return await keepAndFetchRest(cut);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'UPSTREAM_INCOMPLETE') throw error;
    learned.learn({ yearsParam: 'refused' });
    return inWholeAgain();
  }
};

/**
 * Keeps pairs that look whole, and asks for the others by smaller calls. Once everything has come, the total proves
 * the kept ones.
 * @throws Failure UPSTREAM_INCOMPLETE if the rest can't be had
 */
async function keepAndFetchRest(cut: Cut): Promise<FetchedRows> {
  const { task, answer, means } = cut;
  const { rectangle, pairs, round } = task;
  const { learned } = means;
  const total = totalBeyond(answer);
  const mayAskForMore = answer.limit === undefined && learned.facts().limitParam !== 'refused';
  learnCut(answer, mayAskForMore, learned);
  if (!mayAskForMore && cellsOf(rectangle) === 1) return completeSeries(cut);
  if (round >= MAX_ROUNDS) throw incomplete(answer);
  // The part was as long as a limit although the service counts no more: it counts the rows that it sends.
  if (total === null && round > 0) learned.learn({ totals: 'untold' });
  const filling = total === null && !mayAskForMore && task.mode === 'series' ? fillingPair(cut) : null;
  if (filling !== null) return fetchApart(cut, filling);
  const whole = wholePairs(task, answer);
  const isWhole = (pair: Pair) => whole.has(keyOfPair(pair));
  const years = mayNameYears(learned.facts()) ? answer.years : null;
  const changes = { years, rowsOf: rowsOfRest(cut, total, whole), round: round + 1 };
  const otherPairs = pairsOf(rectangle).filter((pair) => !isWhole(pair));
  const wanted = new Set(pairs.map(keyOfPair));
  // The total proves the kept ones only once all others have come, some of which nobody wants.
  if (whole.size === 0 || !otherPairs.every((pair) => wanted.has(keyOfPair(pair))))
    return task.replan(pairs, changes);
  const rest = await task.replan(otherPairs, changes);
  const rows = rest.rows + rowsIn(answer, whole);
  // If the service turned out to take no years, the rest was counted differently.
  const isCountedAlike = years === null || mayNameYears(learned.facts());
  if (!rest.isWhole || rows !== total || !isCountedAlike)
    return sum([rest, await task.replan(pairs.filter(isWhole), changes)]);
  settleWhole(cut, pairsOf(rectangle).filter(isWhole), pairs.filter(isWhole));
  return { rows, isWhole: true };
}

/** Null if the rows are of several pairs. */
function fillingPair({ task, answer }: Cut): Pair | null {
  const [first, ...rest] = sentRows(answer) ?? [];
  if (first === undefined || rest.some(({ key }) => key !== first.key)) return null;
  return pairsOf(task.rectangle).find((pair) => keyOfPair(pair) === first.key) ?? null;
}

/** Splits a pair that fills the answer by years at once: asked for alone, it would bring the same rows again. */
async function fetchApart(cut: Cut, filling: Pair): Promise<FetchedRows> {
  const { task, answer, sending, means } = cut;
  const { countryCode, metricKey } = filling;
  const isFilling = (pair: Pair) => keyOfPair(pair) === keyOfPair(filling);
  const rectangle = { countryCodes: [countryCode], metricKeys: [metricKey] };
  const alone: Task = { ...task, rectangle, pairs: task.pairs.filter(isFilling) };
  const otherPairs = task.pairs.filter((pair) => !isFilling(pair));
  // The first time, the others may be empty: one call tells.
  const rowsOfOthers = task.round === 0 ? task.rowsOf : rowsWithoutTotal(cut);
  // So that no call for others includes it.
  const tooMany = Math.max(answer.list.received, means.learned.facts().maxRows) + 1;
  const rowsOf: RowsOf = (code, key) =>
    code === countryCode && key === metricKey ? tooMany : rowsOfOthers(code, key);
  const changes = { years: answer.years, rowsOf, round: task.round + 1 };
  const rest = otherPairs.length === 0 ? NONE_WHOLE : await task.replan(otherPairs, changes);
  if (alone.pairs.length === 0) return NOT_WHOLE;
  const series = await settlingFailures(alone, () => repairCut(alone, answer, sending, means));
  return sum([rest, series]);
}

/** @param mayAskForMore true if a limit may bring more rows, so that this cut is not the most that one call brings */
function learnCut(answer: Rows, mayAskForMore: boolean, learned: Learned): void {
  const { received, meta } = answer.list;
  const { defaultRows, maxRows } = learned.facts();
  const total = totalBeyond(answer);
  if (answer.limit === undefined && total !== null)
    learned.learn({ defaultRows: Math.min(defaultRows, received) });
  const isLimitStated = total !== null || meta.limit !== null;
  if (!mayAskForMore && isLimitStated) learned.learn({ maxRows: Math.min(maxRows, meta.limit ?? received) });
}

/**
 * The pairs of a cut answer that look whole, if the service states a total. Rows come in one run a pair, so only the
 * last run can be cut; if a pair comes in several runs, no pair counts as whole. Latest figures, one a pair, are all
 * whole.
 */
function wholePairs({ mode }: Task, answer: Rows): ReadonlySet<string> {
  const rows = totalBeyond(answer) === null ? [] : (sentRows(answer) ?? []);
  const whole = new Set<string>();
  let last = '';
  for (const { key } of rows) {
    if (key !== last && whole.has(key)) return new Set();
    whole.add(key);
    last = key;
  }
  if (mode === 'series' || whole.size < rows.length) whole.delete(last);
  // The latest figure stands further back than a row without a value.
  if (mode === 'latest') for (const key of answer.groups.blanks.keys()) whole.delete(key);
  return whole;
}

/** Rows to plan the rest by, for a pair no fewer than came. */
function rowsOfRest(cut: Cut, total: number | null, whole: ReadonlySet<string>): RowsOf {
  return total === null ? rowsWithoutTotal(cut) : rowsByTotal(cut, total, whole);
}

/** They fill at least two answers, so that the rest is halved until its parts are whole. */
function rowsWithoutTotal({ task, answer, means: { learned } }: Cut): RowsOf {
  const { groups, list } = answer;
  const pairsThatCame = new Set([...groups.figures.keys(), ...groups.blanks.keys()]).size;
  const usual = list.received / Math.max(1, pairsThatCame);
  const usualInAll = rowsOver(pairsOf(task.rectangle), () => usual);
  const share = (usual * Math.max(2 * learned.facts().maxRows, usualInAll)) / usualInAll;
  return (code, key) => Math.max(sentOf(groups, pairKey(code, key)), Math.ceil(share));
}

/** What the total leaves is shared in proportion to the expected lengths. */
function rowsByTotal(
  { task, answer, means: { learned } }: Cut,
  total: number,
  whole: ReadonlySet<string>,
): RowsOf {
  const { groups, years } = answer;
  const came: RowsOf = (code, key) => sentOf(groups, pairKey(code, key));
  const left = pairsOf(task.rectangle).filter((pair) => !whole.has(keyOfPair(pair)));
  const rowsOf = expectedOf({ mode: task.mode, years }, learned);
  const expected: RowsOf = (code, key) => Math.max(1, rowsOf(code, key));
  const rowsLeft = total - rowsIn(answer, whole);
  const expectedInAll = rowsOver(left, expected);
  const shareOf: RowsOf = (code, key) => (expected(code, key) * rowsLeft) / expectedInAll;
  // Where a pair has more than its share, the others have less.
  const long = left.filter(({ countryCode: code, metricKey: key }) => came(code, key) > shareOf(code, key));
  const fewer =
    long.length < left.length ? (rowsLeft - rowsOver(long, came)) / (rowsLeft - rowsOver(long, shareOf)) : 1;
  return (code, key) => {
    const rows = came(code, key);
    const share = shareOf(code, key);
    return whole.has(pairKey(code, key)) || rows > share ? rows : Math.max(rows, Math.ceil(share * fewer));
  };
}

function rowsOver(pairs: readonly Pair[], rowsOf: RowsOf): number {
  return pairs.reduce((rows, { countryCode, metricKey }) => rows + rowsOf(countryCode, metricKey), 0);
}

function settleWhole(
  { task, answer, sending, means }: Cut,
  whole: readonly Pair[],
  wanted: readonly Pair[],
): void {
  const { groups, years, receivedAt } = answer;
  const { mode, settle } = task;
  const rowsOf = (pair: Pair) => groups.figures.get(keyOfPair(pair)) ?? [];
  const figures = whole.map((pair) => ({ pair, rows: rowsOf(pair) }));
  means.save(sending.caller.tenant, { mode, years }, figures, receivedAt);
  if (mode === 'series')
    for (const { pair, rows } of figures)
      learnLength(pair, years, rows, sentOf(groups, keyOfPair(pair)), means.learned);
  settle(wanted, wanted.map(rowsOf), years);
}

/** Of a rectangle of one pair. */
async function completeSeries(cut: Cut): Promise<FetchedRows> {
  const { task, answer, sending, means } = cut;
  const { mode, rectangle, pairs } = task;
  const { years, receivedAt } = answer;
  const whole = mode === 'latest' ? null : ((await fetchByYears(cut)) ?? (await askForTotal(cut)));
  if (whole === null) throw incomplete(answer);
  const rows = putInOrder(whole.flatMap(({ figure }) => figure ?? []));
  for (const pair of pairsOf(rectangle)) {
    means.save(sending.caller.tenant, { mode, years }, [{ pair, rows }], receivedAt);
    learnLength(pair, years, rows, whole.length, means.learned);
  }
  settleAs(task, pairs, rows);
  return { rows: whole.length, isWhole: true };
}

/** The limit that was refused may have been higher than needed. */
async function askForTotal({ task, answer, sending, means }: Cut): Promise<SentRows | null> {
  const { calls, learned } = means;
  const { limitParam, limit } = learned.facts();
  const total = totalBeyond(answer);
  if (total === null || total >= HIGHEST_LIMIT) return null;
  if (limitParam !== 'refused' && limit === HIGHEST_LIMIT) return null;
  const { mode, rectangle } = task;
  const all = await calls.askExactly({ mode, rectangle, limit: total, years: answer.years }, sending);
  if (all.isRefused || all.list.received < total) return null;
  learned.learn({ limit: total, maxRows: total });
  return sentRows(all);
}

function rowsIn({ groups }: Rows, keys: ReadonlySet<string>): number {
  return [...keys].reduce((rows, key) => rows + sentOf(groups, key), 0);
}

function incomplete({ list }: Rows): Failure {
  return new Failure('UPSTREAM_INCOMPLETE', 'The service cut the result short and the rest cannot be had.', {
    route: observations.route,
    received: list.received,
    total: list.meta.total,
  });
}
