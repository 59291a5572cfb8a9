import { countries, indicators, observations } from '../service/endpoints.ts';
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
} from './data-calls.ts';
import { WrongGuess } from './fetch.ts';
import type { Pair, Rectangle } from './planner/demand.ts';
import type { Dimension, Learned } from './planner/learned.ts';
import { inWhole } from './planner/modes.ts';
import { allNamesIn, type NamedList } from './whole-lists.ts';

/** Suspects of one kind from which on the service's own list is the cheaper way to find the wrong ones. */
const MANY_SUSPECTS = 3;

interface Search extends RepairMeans {
  readonly sending: Sending;
}

/**
 * Tells the names of a refused call apart, by the service's words or by halves of the call, and has the others answered.
 * Names that can't be told apart are a failure, never an empty list.
 */
export const bisected: Repair['refused'] = async (task, refusal, sending, means) => {
  const search: Search = { ...means, sending };
  const { learned } = means;
  const meant = meantBy(refusal, task.rectangle, learned);
  const unknown = meant?.unknown ?? [];
  // Only a word that refuses metrics, and no country, is about the metrics of a guess.
  const isAboutMetrics =
    unknown.length > 0 && unknown.every((name) => task.rectangle.metricKeys.includes(name));
  if (sending.isGuess?.() && !isAboutMetrics) {
    settleAs(task, task.pairs, new WrongGuess());
    return NOT_WHOLE;
  }
  const isError = refusal.outcome instanceof Error;
  const isForYears = /year/i.test(refusal.detail);
  if (task.years !== null && (isForYears || unknown.length === 0)) {
    // A 404 may be for want of rows in these years; whole series may have some.
    if (isError) learned.learn({ yearsParam: 'refused' });
    if (isError) task.search.isRefusedWithYears = !isForYears;
    return task.replan(task.pairs, inWhole(task.pairs, means));
  }
  // Whole series are refused as well: the refusal of the years was for something else.
  if (isError && task.search.isRefusedWithYears) learned.learn({ yearsParam: 'unknown' });
  if (isError) task.search.isRefusedWithYears = false;
  if (meant !== null) {
    if (isError || saysUnknown(refusal.detail)) cacheRefusal(unknown, task, refusal, search, true);
    settlePairs(task, task.pairs.filter(meant.has), refusal, search, unknown);
    const otherPairs = task.pairs.filter((pair) => !meant.has(pair));
    return task.replan(otherPairs, { years: task.years, rowsOf: task.rowsOf });
  }
  // Parts of a call that is looked into already wait for the rest of it.
  if (task.unproven !== undefined) return tellApart(task, refusal, search);
  const unproven: NonNullable<Task['unproven']> = [];
  const fetched = await tellApart({ ...task, unproven }, refusal, search);
  if (unproven.length > 0) task.search.isAnswered ||= await isProvenPairAnswered(search);
  for (const { part, stray, refusal: cause } of unproven)
    settlePairs(part, part.pairs, task.search.isAnswered ? cause : { ...cause, outcome: stray }, search);
  return fetched;
};

/** True if the route is there, if a 404 names nothing and nothing else was asked for: by a figure that has come before. */
async function isProvenPairAnswered({ learned, calls, sending }: Search): Promise<boolean> {
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

/** Settles a refusal that can mean but one name, or that comes to the same whatever it means; otherwise asks for halves. */
async function tellApart(task: Task, refusal: Refusal, search: Search): Promise<FetchedRows> {
  const { countryCodes, metricKeys } = task.rectangle;
  const isError = refusal.outcome instanceof Error;
  const unlisted = await unlistedIn(task, search);
  const suspects = suspectsIn(task.rectangle, search.learned);
  const all = [...suspects.countries, ...suspects.metrics];
  const areOfOneKind = suspects.countries.length === 0 || suspects.metrics.length === 0;
  // The only suspect, if it is in each pair, is unknown or has no rows, which makes no difference to a 404.
  const isEverywhere = (suspects.countries.length === 1 ? countryCodes : metricKeys).length === 1;
  const isSole = all.length === 1 && isEverywhere;
  // If there may be others, a failure may be for one of these, and none of the unlisted ones.
  const isAny = !isError || areOfOneKind;
  const isOfUnlisted =
    (unlisted.countries.length === countryCodes.length && (isAny || metricKeys.length === 1)) ||
    (unlisted.metrics.length === metricKeys.length && (isAny || countryCodes.length === 1));
  if (isSole || isOfUnlisted || cellsOf(task.rectangle) === 1 || (all.length === 0 && !isError)) {
    if (refusal.stray !== undefined && !refusal.isInferred) {
      task.unproven?.push({ part: task, refusal, stray: refusal.stray });
      return NONE_WHOLE;
    }
    const areRefused = all.length === 1 || (isOfUnlisted && areOfOneKind);
    if (areRefused && (isError || refusal.isInferred)) cacheRefusal(all, task, refusal, search);
    settlePairs(task, task.pairs, refusal, search);
    return NONE_WHOLE;
  }
  task.search.refusalsLeft ??= 6 * Math.ceil(Math.log2(countryCodes.length + metricKeys.length)) + 6;
  task.search.refusalsLeft -= 1;
  if (task.search.refusalsLeft < 0) return giveUp(task, refusal);
  return askForHalves(task, halvesOf(task, suspects, unlisted), refusal, search);
}

async function askForHalves(
  task: Task,
  { halves, isOfTrusted }: ReturnType<typeof halvesOf>,
  refusal: Refusal,
  search: Search,
) {
  const { calls, sending, receive, fetch } = search;
  // A half that nobody wants is not asked for, though it would tell of the other half.
  const [first, second] = halves.filter(({ pairs }) => pairs.length > 0) as [Task, Task | undefined];
  if (second === undefined) return fetch(first, sending);
  // If two things may be refused, neither can be learned: here names are looked into, not `limit`.
  const reply = await calls.askFor(first, sending, false);
  task.search.isAnswered ||= !reply.isRefused;
  if (!reply.isRefused) {
    const inferred = { ...refusal, isInferred: true };
    return sum([await receive(first, reply, sending), await bisected(second, inferred, sending, search)]);
  }
  const lookInto = () => settlingFailures(first, () => bisected(first, reply, sending, search));
  // The search may be given up before all suspects are told apart: those that have figures come first.
  if (isOfTrusted) return sum([await lookInto(), await fetch(second, sending)]);
  // Names of the other half that are answered need not be looked into.
  return sum([await fetch(second, sending), await lookInto()]);
}

/**
 * Splits a task, by metrics before countries, with half of the suspects in the second part; if there are many, with all of
 * them, so that the first part is of trusted names alone.
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

type Suspects = Readonly<Record<Dimension, readonly string[]>>;

/** The names that the service has neither answered for nor listed. */
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
 * The suspects that the service's own list lacks, if they are many and the list has all that there are. Looks at lists, each
 * once a search, if they tell more of many suspects than further calls.
 */
async function unlistedIn({ rectangle, search: names }: Task, search: Search): Promise<Suspects> {
  const { learned, ask, sending } = search;
  const suspected = (dimension: Dimension) => suspectsIn(rectangle, learned)[dimension];
  const unlistedOf = async (dimension: Dimension) => {
    if (suspected(dimension).length < MANY_SUSPECTS) return [];
    names.lists[dimension] ??= listOrNone(
      () => (dimension === 'countries' ? ask(countries, {}, sending) : ask(indicators, {}, sending)),
      sending,
    );
    const list = await names.lists[dimension];
    const all = list && allNamesIn(list, learned.figured[dimension]);
    // It may lack any number of countries, most of which the service refuses: enough to find one of them, or two.
    if (list != null && all === null && dimension === 'countries')
      names.refusalsLeft ??= Math.ceil(Math.log2(suspected(dimension).length)) + 2;
    const unlisted = suspected(dimension).filter((name) => all?.has(name.toUpperCase()) === false);
    return unlisted.length < MANY_SUSPECTS ? [] : unlisted;
  };
  const metrics = await unlistedOf('metrics');
  const mayLook = learned.listed.countries.size > 0 || rectangle.metricKeys.length === 1;
  return { metrics, countries: mayLook ? await unlistedOf('countries') : [] };
}

/** Returns null for a list that can't be had: it tells nothing. */
async function listOrNone(ask: () => PromiseOrValue<NamedList | null>, { signal }: Sending) {
  try {
    return await ask();
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

/**
 * The pairs that the service's words single out, and the names of them that it has never answered for: otherwise a 404 is for
 * want of rows. Null if the words single out no names, or all: it quotes names, or puts them after a colon.
 */
function meantBy({ outcome, detail }: Refusal, { countryCodes, metricKeys }: Rectangle, learned: Learned) {
  const quoted = detail.matchAll(/:\s*([\w.,\s-]+)|["'`]([^"'`]+)["'`]/g);
  const pointed = Array.from(quoted, ([, list, name]) => list ?? name).join(' ');
  const words = new Set(pointed.toLowerCase().split(/[^\w.-]+/));
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

/** True if the service's words say that it doesn't know a country or a measure, rather than that it holds no rows. */
function saysUnknown(detail: string): boolean {
  const thing = '\\b(countr(y|ies)|metrics?|indicators?|measures?)\\b';
  const none = '\\b(not found|unknown|invalid|no such)\\b';
  return new RegExp(`${thing}[^:]*${none}|${none}[^:]*${thing}`, 'i').test(detail);
}

/** @param isNamed true if the service's words name them */
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
    const isNothing = isNamed && !(refusal.outcome instanceof Error);
    const outcome = isNothing ? nothingOf(refusal, dimension === 'metrics') : refusal.outcome;
    search.refusedNames.add(search.sending.caller.tenant, dimension, name, { outcome, atMs });
  }
}

/** No rows, for want of a measure or a country that the service names and says that it doesn't know. */
function nothingOf({ detail }: Refusal, isMetric: boolean) {
  if (!saysUnknown(detail)) return noRows(null);
  return noRows(isMetric ? 'UNKNOWN_INDICATOR' : 'NOT_OFFERED');
}

/** @param unknown names of these pairs that the service's words single out */
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
  const nothing = pairs.map((pair) => {
    const isMetric = unknown.includes(pair.metricKey);
    const isNamed = isMetric || unknown.includes(pair.countryCode);
    return { pair, rows: isNamed ? nothingOf(refusal, isMetric) : noRows(null) };
  });
  task.settle(
    pairs,
    nothing.map(({ rows }) => rows),
  );
  save(sending.caller.tenant, { mode: task.mode, years: null }, nothing, refusal.receivedAt);
}

function giveUp(task: Task, { detail, outcome }: Refusal): FetchedRows {
  const words =
    'The service refused these names together and did not say which it does not know. Ask for fewer at once.';
  const fields = { route: observations.route, detail: detail === '' ? undefined : detail };
  // Its cause tells that the service has refused none of these names by itself.
  settleAs(task, task.pairs, new Failure('BAD_USER_INPUT', words, fields, { cause: outcome }));
  return NOT_WHOLE;
}
