import { countries, indicators, observations } from '../service/endpoints.ts';
import { refusalFor } from '../service/failed-answers.ts';
import type { Sending } from '../service/sending.ts';
import type { PromiseOrValue } from '../shared/async/promises.ts';
import { Failure } from '../shared/errors.ts';
import { noRows } from './absences.ts';
import {
  type FetchedRows,
  NONE_WHOLE,
  NOT_WHOLE,
  type Repair,
  type RepairMeans,
  settleAs,
  settlingFailures,
  sum,
  type Task,
} from './called.ts';
import { isRouteAnswering, type Refusal, type Reply } from './data-calls.ts';
import { cellsOf, type Pair, type Rectangle } from './planner/demand.ts';
import type { Dimension, Learned } from './planner/learned.ts';
import { inWhole } from './planner/modes.ts';
import { meantBy, saysUnknown } from './refusal-words.ts';
import { allNamesIn, type NamedList } from './whole-lists.ts';

/** So many names are found before the search is given up. Each takes a refusal for every halving of all names. */
const MOST_FOUND = 6;

/** From so many suspects on, the service's own list finds the unknown names in fewer calls than a bisection. */
const MANY_SUSPECTS = 3;

/** A search for the names that a call was refused for. */
interface Search extends RepairMeans {
  readonly sending: Sending;
  /** Parts that got a 404 which names nothing: the service doesn't have them, unless it was a moment's. */
  readonly unproven: Unproven[];
}

interface Unproven {
  readonly part: Task;
  readonly refusal: Refusal;
  readonly doubt: Failure;
  /** Names to cache as refused once it is proven. */
  readonly names: readonly string[];
  /** True if the service's own list lacks them, too. */
  readonly isUnlisted: boolean;
}

/**
 * Finds the names that a call was refused for, by the service's message or by a bisection, and fetches the others. If
 * it can't tell which names were meant, all of them fail: none counts as empty.
 */
export const bisected: Repair['refused'] = async (task, refusal, sending, means) => {
  const { arrived } = task;
  const search: Search = { ...means, sending, unproven: [] };
  const answersBefore = arrived.answers;
  const fetched = [await fetchOthers(task, refusal, search)];
  const isAnswered =
    search.unproven.length === 0 ||
    arrived.answers > answersBefore ||
    (await isRouteAnswering(means, sending));
  for (const one of search.unproven) fetched.push(await fetchAgain(one, isAnswered, search));
  return sum(fetched);
};

/** Settles what a refusal is known to mean, and fetches the others: those that the message doesn't name, or halves. */
function fetchOthers(task: Task, refusal: Refusal, search: Search): Promise<FetchedRows> {
  const meant = meantBy(refusal, task.rectangle, search.learned);
  const unknown = meant?.unknown ?? [];
  if (learnAboutYears(task, refusal, unknown, search))
    return task.replan(task.pairs, inWhole(task.pairs, search));
  if (meant === null) return bisect(task, refusal, search);
  if (refusal.failure !== null || saysUnknown(refusal.detail))
    cacheRefusal(unknown, task, refusal, search, true);
  settlePairs(task, task.pairs.filter(meant.has), refusal, search, unknown);
  const otherPairs = task.pairs.filter((pair) => !meant.has(pair));
  return task.replan(otherPairs, { years: task.years, rowsOf: task.rowsOf });
}

/** @returns true if the years may be the reason, so that whole series may be answered */
function learnAboutYears(
  { years, arrived: { refusals } }: Task,
  { failure, detail }: Refusal,
  unknown: readonly string[],
  { learned }: Search,
): boolean {
  const isNamed = /year/i.test(detail);
  // A 404 may mean no rows in these years.
  const isForThem = years !== null && (isNamed || unknown.length === 0);
  if (failure === null) return isForThem;
  if (isForThem) learned.learn({ yearsParam: 'refused' });
  // Whole series are refused too, so the years were not the reason.
  else if (refusals.mayBeForYears) learned.learn({ yearsParam: 'unknown' });
  refusals.mayBeForYears = isForThem && !isNamed;
  return isForThem;
}

/**
 * Repeats a call that got a 404 which names nothing, once the route has answered another: only then is it about what was
 * asked for, and not about a moment without the route.
 */
function fetchAgain(
  { part, refusal, doubt, names, isUnlisted }: Unproven,
  isAnswered: boolean,
  search: Search,
): Promise<FetchedRows> {
  const { calls, sending, receive } = search;
  if (!isAnswered) {
    settleAs(part, part.pairs, doubt);
    return Promise.resolve(NONE_WHOLE);
  }
  return settlingFailures(part, async () => {
    const reply = isUnlisted ? refusal : await calls.ask(part, sending);
    if (!reply.isRefused) return receive(part, reply, sending);
    if (reply.doubt === null) return bisected(part, reply, sending, search);
    cacheRefusal(names, part, reply, search);
    settlePairs(part, part.pairs, reply, search);
    return NONE_WHOLE;
  });
}

/** Settles the pairs if it is clear which names are refused, or makes no difference; otherwise fetches halves. */
async function bisect(task: Task, refusal: Refusal, search: Search): Promise<FetchedRows> {
  const { rectangle, arrived } = task;
  // In this order: a list that is loaded takes names off the suspects.
  const unlisted = await unlistedIn(task, search);
  const suspects = suspectsIn(rectangle, search.learned);
  const blame = blameIn(rectangle, refusal, suspects, unlisted);
  const isAnyToBlame = blame.names.length > 0 || refusal.failure !== null;
  if (blame.isClear || cellsOf(rectangle) === 1 || !isAnyToBlame)
    return settleRefused(task, refusal, blame, search);
  const { refusals } = arrived;
  const names = rectangle.countryCodes.length + rectangle.metricKeys.length;
  refusals.left ??= MOST_FOUND * (Math.ceil(Math.log2(names)) + 1);
  refusals.left -= 1;
  if (refusals.left < 0) return giveUp(task, refusal);
  return fetchHalves(halvesOf(task, suspects, unlisted), refusal, search);
}

type Blame = ReturnType<typeof blameIn>;

function blameIn(
  { countryCodes, metricKeys }: Rectangle,
  { failure }: Refusal,
  { countries, metrics }: Suspects,
  unlisted: Suspects,
) {
  const names = [...countries, ...metrics];
  const areOfOneKind = countries.length === 0 || metrics.length === 0;
  // After a 404, suspects of the other kind make no difference: there are no rows.
  const isOtherKindClear = failure === null || areOfOneKind;
  const areAllOfAKindUnlisted =
    (unlisted.countries.length === countryCodes.length && (isOtherKindClear || metricKeys.length === 1)) ||
    (unlisted.metrics.length === metricKeys.length && (isOtherKindClear || countryCodes.length === 1));
  // If the only suspect is in every pair, a 404 means that it is unknown or has no rows, which are settled alike.
  const isInEveryPair = (countries.length === 1 ? countryCodes : metricKeys).length === 1;
  const isOnlyOne = names.length === 1 && isInEveryPair;
  const areKnown = names.length === 1 || (areAllOfAKindUnlisted && areOfOneKind);
  // Clear if a bisection would tell no more; known if these are the refused names.
  const isClear = isOnlyOne || areAllOfAKindUnlisted;
  return { names, isClear, areKnown, isUnlisted: areAllOfAKindUnlisted };
}

function settleRefused(task: Task, refusal: Refusal, blame: Blame, search: Search): FetchedRows {
  const { failure, doubt, isInferred = false } = refusal;
  const { areKnown, isUnlisted } = blame;
  if (doubt !== null && !(isInferred && isUnlisted)) {
    const names = areKnown && isInferred ? blame.names : [];
    search.unproven.push({ part: task, refusal, doubt, names, isUnlisted });
    return NONE_WHOLE;
  }
  const { countryCodes, metricKeys } = task.rectangle;
  const names = areKnown ? blame.names : [...countryCodes, ...metricKeys];
  const named = failure === null ? refusal : { ...refusal, failure: refusalFor(failure, names) };
  if (areKnown && (failure !== null || isInferred)) cacheRefusal(names, task, named, search);
  settlePairs(task, task.pairs, named, search);
  return NONE_WHOLE;
}

async function fetchHalves(
  { halves, isFirstTrusted }: ReturnType<typeof halvesOf>,
  refusal: Refusal,
  search: Search,
): Promise<FetchedRows> {
  const { calls, sending, receive } = search;
  const take = (half: Task, reply: Reply) =>
    settlingFailures(half, () =>
      reply.isRefused ? fetchOthers(half, reply, search) : receive(half, reply, sending),
    );
  const fetch = (half: Task) =>
    settlingFailures(half, async () => take(half, await calls.ask(half, sending)));
  // A half without demands isn't fetched, although its answer would tell about the other half.
  const [first, second] = halves.filter(({ pairs }) => pairs.length > 0) as [Task, Task | undefined];
  if (second === undefined) return fetch(first);
  // Not a call to find out about `limit`: if names and limit may both be the reason, a refusal shows neither.
  const reply = await calls.ask(first, sending, false);
  if (!reply.isRefused)
    return sum([await take(first, reply), await take(second, { ...refusal, isInferred: true })]);
  // Trusted names come first, since the search may be given up before the other half.
  if (isFirstTrusted) return sum([await take(first, reply), await fetch(second)]);
  return sum([await fetch(second), await take(first, reply)]);
}

/**
 * Splits by metrics before countries, with half of the suspects in the second part; if there are many, with all of
 * them, so that the first part has only trusted names.
 */
function halvesOf({ rectangle, ...task }: Task, suspects: Suspects, unlisted: Suspects) {
  const { countryCodes, metricKeys } = rectangle;
  const isOfUnlisted = unlisted.countries.length > 0 && unlisted.countries.length < countryCodes.length;
  const isByMetric =
    !isOfUnlisted &&
    metricKeys.length > 1 &&
    (suspects.metrics.length > 0 || suspects.countries.length === 0);
  const [dimension, names] = isByMetric
    ? (['metrics', metricKeys] as const)
    : (['countries', countryCodes] as const);
  const suspected = unlisted[dimension].length > 0 ? unlisted[dimension] : suspects[dimension];
  const isFirstTrusted = suspected.length >= MANY_SUSPECTS && suspected.length < names.length;
  const among = suspected.length > 0 ? suspected : names;
  const namesOfSecond = new Set(isFirstTrusted ? suspected : among.slice(Math.floor(among.length / 2)));
  const halves = [false, true].map((isSecond): Task => {
    const pairs = task.pairs.filter(
      ({ countryCode, metricKey }) => namesOfSecond.has(isByMetric ? metricKey : countryCode) === isSecond,
    );
    const named = new Set(pairs.flatMap(({ countryCode, metricKey }) => [countryCode, metricKey]));
    const within = (some: readonly string[]) => some.filter((name) => named.has(name));
    return {
      ...task,
      pairs,
      rectangle: { countryCodes: within(countryCodes), metricKeys: within(metricKeys) },
    };
  });
  return { halves, isFirstTrusted };
}

/** Names that the service has neither listed nor answered with figures. */
type Suspects = Readonly<Record<Dimension, readonly string[]>>;

function suspectsIn({ countryCodes, metricKeys }: Rectangle, { answered, listed }: Learned): Suspects {
  const among = (dimension: Dimension, names: readonly string[]) =>
    names.filter((name) => !answered[dimension].has(name) && !listed[dimension].has(name));
  return { countries: among('countries', countryCodes), metrics: among('metrics', metricKeys) };
}

/**
 * The suspects that the service's own list lacks, if the list is complete. A list is loaded only if there are so many
 * suspects that it spares more calls than it takes, and once for all operations and fields that wait.
 */
async function unlistedIn({ rectangle, arrived: { refusals } }: Task, search: Search): Promise<Suspects> {
  const { learned, ask, sending } = search;
  const suspected = (dimension: Dimension) => suspectsIn(rectangle, learned)[dimension];
  const unlistedOf = async (dimension: Dimension) => {
    if (suspected(dimension).length < MANY_SUSPECTS) return [];
    refusals.lists[dimension] ??= listOrNull(
      () =>
        dimension === 'countries'
          ? (sending.lists?.()?.countries() ?? ask(countries, {}, sending))
          : (sending.lists?.()?.indicators() ?? ask(indicators, {}, sending)),
      sending,
    );
    const list = await refusals.lists[dimension];
    const all = list && allNamesIn(list, learned.figured[dimension]);
    // Most of the suspects may be refused then: a bisection can find one or two of them, not all.
    if (list != null && all === null && dimension === 'countries')
      refusals.left ??= Math.ceil(Math.log2(suspected(dimension).length)) + 2;
    const unlisted = suspected(dimension).filter((name) => all?.has(name.toUpperCase()) === false);
    return unlisted.length < MANY_SUSPECTS ? [] : unlisted;
  };
  const metrics = await unlistedOf('metrics');
  const mayLook = learned.listed.countries.size > 0 || rectangle.metricKeys.length === 1;
  return { metrics, countries: mayLook ? await unlistedOf('countries') : [] };
}

/** Null if the list can't be had. */
async function listOrNull(ask: () => PromiseOrValue<NamedList | null>, { signal }: Sending) {
  try {
    return await ask();
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

/** @param isNamed true if the service's message names them */
function cacheRefusal(
  names: readonly string[],
  { rectangle }: Task,
  refusal: Refusal,
  search: Search,
  isNamed = false,
): void {
  const { receivedAt: atMs } = refusal;
  for (const name of names) {
    const dimension = rectangle.countryCodes.includes(name) ? 'countries' : 'metrics';
    const outcome = refusal.failure ?? (isNamed ? noRowsFor(refusal, dimension === 'metrics') : []);
    search.refusedNames.add(search.sending.caller.tenant, dimension, name, { outcome, atMs });
  }
}

function noRowsFor({ detail }: Refusal, isMetric: boolean) {
  if (!saysUnknown(detail)) return noRows(null);
  return noRows(isMetric ? 'UNKNOWN_INDICATOR' : 'NOT_OFFERED');
}

/** @param unknown names of these pairs that the service's message singles out */
function settlePairs(
  task: Task,
  pairs: readonly Pair[],
  refusal: Refusal,
  { save, sending }: Search,
  unknown: readonly string[] = [],
): void {
  if (refusal.failure !== null) {
    settleAs(task, pairs, refusal.failure);
    return;
  }
  const figures = pairs.map((pair) => {
    const isMetric = unknown.includes(pair.metricKey);
    const isNamed = isMetric || unknown.includes(pair.countryCode);
    return { pair, rows: isNamed ? noRowsFor(refusal, isMetric) : noRows(null) };
  });
  task.settle(
    pairs,
    figures.map(({ rows }) => rows),
    task.years,
  );
  save(sending.caller.tenant, { mode: task.mode, years: null }, figures, refusal.receivedAt);
}

function giveUp(task: Task, { detail }: Refusal): FetchedRows {
  const message =
    'The service refused these names together and did not say which it does not know. Ask for fewer at once.';
  const fields = { route: observations.route, detail: detail === '' ? undefined : detail };
  settleAs(task, task.pairs, new Failure('BAD_USER_INPUT', message, fields));
  return NOT_WHOLE;
}
