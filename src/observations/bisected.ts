import { createObjectMemo } from '../cache/lru.ts';
import { countries, indicators, observations } from '../service/endpoints.ts';
import { refusalFor } from '../service/failed-answers.ts';
import type { Sending } from '../service/sending.ts';
import type { PromiseOrValue } from '../shared/async/turns.ts';
import { Failure } from '../shared/errors.ts';
import { noRows } from './absences.ts';
import {
  cellsOf,
  type FetchedRows,
  NONE_WHOLE,
  NOT_WHOLE,
  type Refusal,
  type Repair,
  type RepairMeans,
  settleAs,
  settlingFailures,
  sum,
  type Task,
  type Unproven,
} from './data-calls.ts';
import type { Pair, Rectangle } from './planner/demand.ts';
import type { Dimension, Learned } from './planner/learned.ts';
import { inWhole } from './planner/modes.ts';
import { allNamesIn, type NamedList } from './whole-lists.ts';

/** From so many suspects on, the service's own list finds the unknown names in fewer calls than a bisection. */
const MANY_SUSPECTS = 3;

interface Search extends RepairMeans {
  readonly sending: Sending;
  readonly found: Found;
}

/** What the searches of one fetch have found out, whichever of its calls was refused. */
interface Found {
  /** Number of further refusals that may be bisected; undefined before the first. */
  refusalsLeft?: number;
  /** The service's own lists of names, once loaded; null for one that can't be had. */
  readonly lists: Partial<Record<Dimension, Promise<NamedList | null>>>;
  /** True while the last refusal was of a call with years, and its message didn't mention them. */
  isRefusedWithYears: boolean;
}

const ofFetches = createObjectMemo<Found>('found of refused names');

/**
 * Finds the names that a call was refused for, by the service's message or by a bisection, and fetches the others. If
 * it can't tell which names were meant, all of them fail: none counts as empty.
 */
export const bisected: Repair['refused'] = async (task, refusal, sending, means) => {
  const { arrived } = task;
  const found = ofFetches.of(arrived) ?? ofFetches.put(arrived, { lists: {}, isRefusedWithYears: false });
  const search: Search = { ...means, sending, found };
  const { learned } = means;
  const meant = meantBy(refusal, task.rectangle, learned);
  const unknown = meant?.unknown ?? [];
  const isError = refusal.outcome instanceof Error;
  const isForYears = /year/i.test(refusal.detail);
  if (task.years !== null && (isForYears || unknown.length === 0)) {
    // A 404 may mean no rows in these years; whole series may have some.
    if (isError) learned.learn({ yearsParam: 'refused' });
    if (isError) found.isRefusedWithYears = !isForYears;
    return task.replan(task.pairs, inWhole(task.pairs, means));
  }
  // Whole series are refused too, so the years were not the reason.
  if (isError && found.isRefusedWithYears) learned.learn({ yearsParam: 'unknown' });
  if (isError) found.isRefusedWithYears = false;
  if (meant !== null) {
    if (isError || saysUnknown(refusal.detail)) cacheRefusal(unknown, task, refusal, search, true);
    settlePairs(task, task.pairs.filter(meant.has), refusal, search, unknown);
    const otherPairs = task.pairs.filter((pair) => !meant.has(pair));
    return task.replan(otherPairs, { years: task.years, rowsOf: task.rowsOf });
  }
  // A part of a call that is being bisected: whoever began that settles what remains unproven.
  if (task.unproven !== undefined) return bisect(task, refusal, search);
  const unproven: Unproven[] = [];
  const answersBefore = arrived.answers;
  const fetched = [await bisect({ ...task, unproven }, refusal, search)];
  const isAnswered =
    unproven.length === 0 || arrived.answers > answersBefore || (await isProvenPairAnswered(search, sending));
  for (const part of unproven) fetched.push(await fetchAgain(part, isAnswered, search));
  return sum(fetched);
};

/**
 * Repeats a call that got a 404 which names nothing, once the route has answered another: only then is it about what was
 * asked for, and not about a moment without the route.
 */
async function fetchAgain(
  { part, refusal, stray, names, isUnlisted }: Unproven,
  isAnswered: boolean,
  search: Search,
): Promise<FetchedRows> {
  const { calls, sending, receive } = search;
  const { unproven: _, ...task } = part;
  if (!isAnswered) {
    settleAs(task, task.pairs, stray);
    return NONE_WHOLE;
  }
  return settlingFailures(task, async () => {
    const reply = isUnlisted ? refusal : await calls.askFor(task, sending);
    if (!reply.isRefused) return receive(task, reply, sending);
    if (reply.stray === undefined) return bisected(task, reply, sending, search);
    cacheRefusal(names, task, reply, search);
    settlePairs(task, task.pairs, reply, search);
    return NONE_WHOLE;
  });
}

/** Fetches a figure that has arrived before: after a 404 that names nothing, it shows whether the route works. */
export async function isProvenPairAnswered(
  { learned, calls }: Pick<RepairMeans, 'learned' | 'calls'>,
  sending: Sending,
): Promise<boolean> {
  const pair = learned.figuredPair;
  if (pair === null) return false;
  const rectangle = { countryCodes: [pair.countryCode], metricKeys: [pair.metricKey] };
  try {
    const reply = await calls.ask({ mode: 'latest', rectangle }, sending);
    return !reply.isRefused || reply.stray === undefined;
  } catch (error) {
    sending.signal.throwIfAborted();
    if (error instanceof Failure) return false;
    throw error;
  }
}

/** Settles the pairs if it is clear which names are refused, or makes no difference; otherwise fetches halves. */
async function bisect(task: Task, refusal: Refusal, search: Search): Promise<FetchedRows> {
  const { countryCodes, metricKeys } = task.rectangle;
  const isError = refusal.outcome instanceof Error;
  const unlisted = await unlistedIn(task, search);
  const suspects = suspectsIn(task.rectangle, search.learned);
  const all = [...suspects.countries, ...suspects.metrics];
  const areOfOneKind = suspects.countries.length === 0 || suspects.metrics.length === 0;
  // If the only suspect is in every pair, a 404 means that it is unknown or has no rows, which are settled alike.
  const isEverywhere = (suspects.countries.length === 1 ? countryCodes : metricKeys).length === 1;
  const isSole = all.length === 1 && isEverywhere;
  const isAny = !isError || areOfOneKind;
  const isOfUnlisted =
    (unlisted.countries.length === countryCodes.length && (isAny || metricKeys.length === 1)) ||
    (unlisted.metrics.length === metricKeys.length && (isAny || countryCodes.length === 1));
  if (isSole || isOfUnlisted || cellsOf(task.rectangle) === 1 || (all.length === 0 && !isError)) {
    const areRefused = all.length === 1 || (isOfUnlisted && areOfOneKind);
    const { outcome, stray, isInferred = false } = refusal;
    if (stray !== undefined && !(isInferred && isOfUnlisted)) {
      const refusedNames = areRefused && isInferred ? all : [];
      task.unproven?.push({ part: task, refusal, stray, names: refusedNames, isUnlisted: isOfUnlisted });
      return NONE_WHOLE;
    }
    const names = areRefused ? all : [...countryCodes, ...metricKeys];
    const named = outcome instanceof Failure ? { ...refusal, outcome: refusalFor(outcome, names) } : refusal;
    if (areRefused && (isError || isInferred)) cacheRefusal(all, task, named, search);
    settlePairs(task, task.pairs, named, search);
    return NONE_WHOLE;
  }
  const { found } = search;
  found.refusalsLeft ??= 6 * Math.ceil(Math.log2(countryCodes.length + metricKeys.length)) + 6;
  found.refusalsLeft -= 1;
  if (found.refusalsLeft < 0) return giveUp(task, refusal);
  return fetchHalves(halvesOf(task, suspects, unlisted), refusal, search);
}

async function fetchHalves(
  { halves, isOfTrusted }: ReturnType<typeof halvesOf>,
  refusal: Refusal,
  search: Search,
) {
  const { calls, sending, receive, fetch } = search;
  // A half without demands isn't fetched, although its answer would tell about the other half.
  const [first, second] = halves.filter(({ pairs }) => pairs.length > 0) as [Task, Task | undefined];
  if (second === undefined) return fetch(first, sending);
  // Not a call to find out about `limit`: if names and limit may both be the reason, a refusal shows neither.
  const reply = await calls.askFor(first, sending, false);
  if (!reply.isRefused) {
    const inferred = { ...refusal, isInferred: true };
    return sum([await receive(first, reply, sending), await bisected(second, inferred, sending, search)]);
  }
  const bisectFirst = () => settlingFailures(first, () => bisected(first, reply, sending, search));
  // Trusted names come first, since the search may be given up before the other half.
  if (isOfTrusted) return sum([await bisectFirst(), await fetch(second, sending)]);
  return sum([await fetch(second, sending), await bisectFirst()]);
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
  const suspected = (dimension: Dimension) => (name: string) => {
    const spelt = dimension === 'countries' ? name.toUpperCase() : name;
    return !answered[dimension].has(spelt) && !listed[dimension].has(spelt);
  };
  return {
    countries: countryCodes.filter(suspected('countries')),
    metrics: metricKeys.filter(suspected('metrics')),
  };
}

/**
 * The suspects that the service's own list lacks, if the list is complete. A list is loaded only if there are so many
 * suspects that it spares more calls than it takes, and once for all operations and fields that wait.
 */
async function unlistedIn({ rectangle }: Task, search: Search): Promise<Suspects> {
  const { learned, ask, sending, found } = search;
  const suspected = (dimension: Dimension) => suspectsIn(rectangle, learned)[dimension];
  const unlistedOf = async (dimension: Dimension) => {
    if (suspected(dimension).length < MANY_SUSPECTS) return [];
    found.lists[dimension] ??= listOrNull(
      () =>
        dimension === 'countries'
          ? (sending.lists?.()?.countries() ?? ask(countries, {}, sending))
          : (sending.lists?.()?.indicators() ?? ask(indicators, {}, sending)),
      sending,
    );
    const list = await found.lists[dimension];
    const all = list && allNamesIn(list, learned.figured[dimension]);
    // Most of the suspects may be refused then: a bisection can find one or two of them, not all.
    if (list != null && all === null && dimension === 'countries')
      found.refusalsLeft ??= Math.ceil(Math.log2(suspected(dimension).length)) + 2;
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

/**
 * The pairs that the service's message singles out, by names in quotes or after a colon, and those of the names that it
 * has never answered. Null if the message names none of the call's names, or all of them.
 */
function meantBy({ outcome, detail }: Refusal, { countryCodes, metricKeys }: Rectangle, learned: Learned) {
  const quoted = detail.matchAll(/:\s*([\w.,\s-]+)|["'`]([^"'`]+)["'`]/g);
  const namedText = Array.from(quoted, ([, list, name]) => list ?? name).join(' ');
  const words = new Set(namedText.toLowerCase().split(/[^\w.-]+/));
  const all = [...countryCodes, ...metricKeys];
  const named = all.filter((name) => words.has(name.toLowerCase()));
  if (named.length === 0 || named.length === all.length) return null;
  const { countries, metrics } = learned.answered;
  const unknown = named.filter((name) => !countries.has(name) && !metrics.has(name));
  if (unknown.length === 0 && outcome instanceof Error) return null;
  const isAmong = (names: readonly string[], name: string) =>
    named.includes(name) || !names.some((one) => named.includes(one));
  const has = ({ countryCode, metricKey }: Pair) =>
    unknown.length > 0
      ? unknown.includes(countryCode) || unknown.includes(metricKey)
      : isAmong(countryCodes, countryCode) && isAmong(metricKeys, metricKey);
  return { unknown, has };
}

/** True if a message says that a country or measure doesn't exist, rather than that it has no rows. */
function saysUnknown(detail: string): boolean {
  const kind = '\\b(countr(y|ies)|metrics?|indicators?|measures?)\\b';
  const none = '\\b(not found|unknown|invalid|no such)\\b';
  return new RegExp(`${kind}[^:]*${none}|${none}[^:]*${kind}`, 'i').test(detail);
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
