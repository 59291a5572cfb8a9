import { countries, indicators, observations } from '../service/endpoints.ts';
import { refusalFor } from '../service/failed-answers.ts';
import type { Sending } from '../service/sending.ts';
import type { PromiseOrValue } from '../shared/async/turns.ts';
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
  readonly stray: Failure;
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
  if (isForYears(task, refusal, unknown, search)) return task.replan(task.pairs, inWhole(task.pairs, search));
  if (meant === null) return bisect(task, refusal, search);
  if (refusal.outcome instanceof Error || saysUnknown(refusal.detail))
    cacheRefusal(unknown, task, refusal, search, true);
  settlePairs(task, task.pairs.filter(meant.has), refusal, search, unknown);
  const otherPairs = task.pairs.filter((pair) => !meant.has(pair));
  return task.replan(otherPairs, { years: task.years, rowsOf: task.rowsOf });
}

/** True if whole series may be answered where some of their years were not. */
function isForYears(
  { years, arrived: { refusals } }: Task,
  { outcome, detail }: Refusal,
  unknown: readonly string[],
  { learned }: Search,
): boolean {
  const isError = outcome instanceof Error;
  const isNamed = /year/i.test(detail);
  // A 404 may mean no rows in these years.
  const isForThem = years !== null && (isNamed || unknown.length === 0);
  if (isError && isForThem) learned.learn({ yearsParam: 'refused' });
  // Whole series are refused too, so the years were not the reason.
  else if (isError && refusals.mayBeForYears) learned.learn({ yearsParam: 'unknown' });
  if (isError) refusals.mayBeForYears = isForThem && !isNamed;
  return isForThem;
}

/**
 * Repeats a call that got a 404 which names nothing, once the route has answered another: only then is it about what was
 * asked for, and not about a moment without the route.
 */
function fetchAgain(
  { part, refusal, stray, names, isUnlisted }: Unproven,
  isAnswered: boolean,
  search: Search,
): Promise<FetchedRows> {
  const { calls, sending, receive } = search;
  if (!isAnswered) {
    settleAs(part, part.pairs, stray);
    return Promise.resolve(NONE_WHOLE);
  }
  return settlingFailures(part, async () => {
    const reply = isUnlisted ? refusal : await calls.ask(part, sending);
    if (!reply.isRefused) return receive(part, reply, sending);
    if (reply.stray === undefined) return bisected(part, reply, sending, search);
    cacheRefusal(names, part, reply, search);
    settlePairs(part, part.pairs, reply, search);
    return NONE_WHOLE;
  });
}

/** Settles the pairs if it is clear which names are refused, or makes no difference; otherwise fetches halves. */
async function bisect(task: Task, refusal: Refusal, search: Search): Promise<FetchedRows> {
  const { countryCodes, metricKeys } = task.rectangle;
  const { outcome, stray, isInferred = false } = refusal;
  const isError = outcome instanceof Error;
  const unlisted = await unlistedIn(task, search);
  const suspects = suspectsIn(task.rectangle, search.learned);
  const all = [...suspects.countries, ...suspects.metrics];
  const areOfOneKind = suspects.countries.length === 0 || suspects.metrics.length === 0;
  // If the only suspect is in every pair, a 404 means that it is unknown or has no rows, which are settled alike.
  const isEverywhere = (suspects.countries.length === 1 ? countryCodes : metricKeys).length === 1;
  const isSole = all.length === 1 && isEverywhere;
  const isAny = !isError || areOfOneKind;
  const isUnlisted =
    (unlisted.countries.length === countryCodes.length && (isAny || metricKeys.length === 1)) ||
    (unlisted.metrics.length === metricKeys.length && (isAny || countryCodes.length === 1));
  if (!isSole && !isUnlisted && cellsOf(task.rectangle) > 1 && (all.length > 0 || isError)) {
    const { refusals } = task.arrived;
    refusals.left ??= 6 * Math.ceil(Math.log2(countryCodes.length + metricKeys.length)) + 6;
    refusals.left -= 1;
    return refusals.left < 0
      ? giveUp(task, refusal)
      : fetchHalves(halvesOf(task, suspects, unlisted), refusal, search);
  }
  const areRefused = all.length === 1 || (isUnlisted && areOfOneKind);
  if (stray !== undefined && !(isInferred && isUnlisted)) {
    const names = areRefused && isInferred ? all : [];
    search.unproven.push({ part: task, refusal, stray, names, isUnlisted });
    return NONE_WHOLE;
  }
  const names = areRefused ? all : [...countryCodes, ...metricKeys];
  const named = outcome instanceof Failure ? { ...refusal, outcome: refusalFor(outcome, names) } : refusal;
  if (areRefused && (isError || isInferred)) cacheRefusal(all, task, named, search);
  settlePairs(task, task.pairs, named, search);
  return NONE_WHOLE;
}

async function fetchHalves(
  { halves, isOfTrusted }: ReturnType<typeof halvesOf>,
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
  if (isOfTrusted) return sum([await take(first, reply), await fetch(second)]);
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
  const isOfTrusted = suspected.length >= MANY_SUSPECTS && suspected.length < names.length;
  const among = suspected.length > 0 ? suspected : names;
  const second = new Set(isOfTrusted ? suspected : among.slice(Math.floor(among.length / 2)));
  const halves = [false, true].map((isSecond): Task => {
    const pairs = task.pairs.filter(
      ({ countryCode, metricKey }) => second.has(isByMetric ? metricKey : countryCode) === isSecond,
    );
    const named = new Set(pairs.flatMap(({ countryCode, metricKey }) => [countryCode, metricKey]));
    const within = (some: readonly string[]) => some.filter((name) => named.has(name));
    return {
      ...task,
      pairs,
      rectangle: { countryCodes: within(countryCodes), metricKeys: within(metricKeys) },
    };
  });
  return { halves, isOfTrusted };
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
    const isWithoutRows = isNamed && !(refusal.outcome instanceof Error);
    const outcome = isWithoutRows ? noRowsFor(refusal, dimension === 'metrics') : refusal.outcome;
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
  if (refusal.outcome instanceof Error) {
    settleAs(task, pairs, refusal.outcome);
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

function giveUp(task: Task, { detail, outcome }: Refusal): FetchedRows {
  const message =
    'The service refused these names together and did not say which it does not know. Ask for fewer at once.';
  const fields = { route: observations.route, detail: detail === '' ? undefined : detail };
  // The cause shows that the service has refused none of these names by itself.
  settleAs(task, task.pairs, new Failure('BAD_USER_INPUT', message, fields, { cause: outcome }));
  return NOT_WHOLE;
}
