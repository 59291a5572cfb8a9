import { countries, indicators, observations } from '../service/endpoints.ts';
import type { Sending } from '../service/sending.ts';
import { Failure } from '../shared/errors.ts';
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
import { WrongGuess } from './entries.ts';
import type { Pair, Rectangle } from './planner/demand.ts';
import type { Dimension, Learned } from './planner/learned.ts';
import { inWhole } from './planner/modes.ts';

/** Suspects of one kind from which on the service's own list is the cheaper way to find the wrong one. */
const MANY_SUSPECTS = 3;

interface Search extends RepairMeans {
  readonly sending: Sending;
}

/**
 * Tells the names of a refused call apart by further calls, and has the answer to each part handed out.
 *
 * The service's word on the whole is its word on a part only if no other part can be meant. So names are told apart
 * until each refusal can mean but one of them. For a 404, it is enough that all its meanings come to the same: there is
 * nothing. Names that can't be told apart are a failure, never an empty list.
 */
export const bisected: Repair['refused'] = async (task, refusal, sending, means) => {
  const search: Search = { ...means, sending };
  const { learned } = means;
  const unknown = meantBy(refusal, task.rectangle, learned)?.unknown ?? [];
  // Only a word that refuses metrics, and no country, is about the metrics of a guess.
  const isAboutMetrics =
    unknown.length > 0 && unknown.every((name) => task.rectangle.metricKeys.includes(name));
  if (sending.isGuess && !isAboutMetrics) {
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

/**
 * Settles what a refusal means for certain, and asks for the rest.
 * @param isInferred true if the refusal is that of a larger call and the rest of that call was answered: then a name of
 * this part is refused
 */
async function tellApart(
  task: Task,
  refusal: Refusal,
  search: Search,
  isInferred = false,
): Promise<FetchedRows> {
  const { rectangle, pairs, years, rowsOf } = task;
  const { learned } = search;
  const isError = refusal.outcome instanceof Error;
  const meant = meantBy(refusal, rectangle, learned);
  if (meant !== null) {
    if (isError || saysUnknown(refusal.detail)) cacheRefusal(meant.unknown, task, refusal, search);
    settlePairs(task, pairs.filter(meant.has), refusal, search);
    const otherPairs = pairs.filter((pair) => !meant.has(pair));
    return task.replan(otherPairs, { years, rowsOf });
  }
  const suspects = suspectsIn(rectangle, learned);
  const all = [...suspects.countries, ...suspects.metrics];
  const { countryCodes, metricKeys } = rectangle;
  // The only suspect, if it is in each pair, is unknown or has no rows, which makes no difference to a 404.
  const isEverywhere = (suspects.countries.length === 1 ? countryCodes : metricKeys).length === 1;
  if (cellsOf(rectangle) === 1 || (all.length === 1 && isEverywhere) || (all.length === 0 && !isError)) {
    if (refusal.stray !== undefined && !isInferred) {
      task.unproven?.push({ part: task, refusal, stray: refusal.stray });
      return NONE_WHOLE;
    }
    if (all.length === 1 && (isError || isInferred)) cacheRefusal(all, task, refusal, search);
    settlePairs(task, pairs, refusal, search);
    return NONE_WHOLE;
  }
  if (await lookAtList(task, suspects, search)) return tellApart(task, refusal, search, isInferred);
  task.search.refusalsLeft ??= 6 * Math.ceil(Math.log2(countryCodes.length + metricKeys.length)) + 6;
  task.search.refusalsLeft -= 1;
  return task.search.refusalsLeft < 0 ? giveUp(task, refusal) : askForHalves(task, suspects, refusal, search);
}

async function askForHalves(task: Task, suspects: Suspects, refusal: Refusal, search: Search) {
  const [first, second] = halvesOf(task.rectangle, suspects).map((half) => partOf(task, half)) as [
    Task,
    Task,
  ];
  const { sending } = search;
  // A half that nobody wants is not asked for, though it would tell of the other half.
  if (first.pairs.length === 0) return search.fetch(second, sending);
  if (second.pairs.length === 0) return search.fetch(first, sending);
  // If two things may be refused, neither can be learned: here names are looked into, not `limit`.
  const reply = await search.calls.askFor(first, sending, false);
  first.search.isAnswered ||= !reply.isRefused;
  if (!reply.isRefused)
    return sum([await search.receive(first, reply, sending), await tellApart(second, refusal, search, true)]);
  const ofFirst = settlingFailures(first, () => tellApart(first, reply, search));
  return sum(await Promise.all([ofFirst, search.fetch(second, sending)]));
}

/** Splits a rectangle, by metrics before countries, with half of the suspects in the second part. */
function halvesOf({ countryCodes, metricKeys }: Rectangle, suspects: Suspects): readonly Rectangle[] {
  const isByMetric =
    metricKeys.length > 1 && (suspects.metrics.length > 0 || suspects.countries.length === 0);
  const names = isByMetric ? metricKeys : countryCodes;
  const suspected = isByMetric ? suspects.metrics : suspects.countries;
  const among = suspected.length === 0 ? names : suspected;
  const second = new Set(among.slice(Math.floor(among.length / 2)));
  const first = names.filter((name) => !second.has(name));
  return [first, [...second]].map((half) =>
    isByMetric ? { countryCodes, metricKeys: half } : { countryCodes: half, metricKeys },
  );
}

/** The part of a task that lies in a rectangle, with the names of its own pairs alone. */
function partOf(task: Task, { countryCodes, metricKeys }: Rectangle): Task {
  const isIn = ({ countryCode, metricKey }: Pair) =>
    countryCodes.includes(countryCode) && metricKeys.includes(metricKey);
  const pairs = task.pairs.filter(isIn);
  const names = new Set(pairs.flatMap(({ countryCode, metricKey }) => [countryCode, metricKey]));
  const within = (all: readonly string[]) => all.filter((name) => names.has(name));
  return {
    ...task,
    pairs,
    rectangle: { countryCodes: within(countryCodes), metricKeys: within(metricKeys) },
  };
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

/** Looks at the service's own list if it tells more of many suspects than further calls; true if one was looked at. */
async function lookAtList(
  { rectangle, search }: Task,
  suspects: Suspects,
  { learned, ask, sending }: Search,
) {
  const mayLook = (dimension: Dimension) =>
    suspects[dimension].length >= MANY_SUSPECTS &&
    !search.isListAsked[dimension] &&
    learned.listed[dimension].size === 0;
  const isForCountries = !mayLook('metrics') && rectangle.metricKeys.length === 1 && mayLook('countries');
  if (!isForCountries && !mayLook('metrics')) return false;
  search.isListAsked[isForCountries ? 'countries' : 'metrics'] = true;
  try {
    await (isForCountries ? ask(countries, {}, sending) : ask(indicators, {}, sending));
  } catch {
    // A list that can't be had tells nothing.
    sending.signal.throwIfAborted();
  }
  return true;
}

/**
 * The pairs that the service's words single out, and the names of them that it has never answered for: otherwise a 404 is for
 * want of rows. Null if the words single out no names, or all: it quotes names, or puts them after a colon.
 */
function meantBy(
  { outcome, detail }: Refusal,
  { countryCodes, metricKeys }: Rectangle,
  { answered }: Learned,
) {
  const pointed = [...detail.matchAll(/:\s*([\w.,\s-]+)|["'`]([^"'`]+)["'`]/g)].map(
    (m) => m[1] ?? m[2] ?? '',
  );
  const words = new Set(
    pointed
      .join(' ')
      .toLowerCase()
      .split(/[^\w.-]+/),
  );
  const all = [...countryCodes, ...metricKeys];
  const named = all.filter((name) => words.has(name.toLowerCase()));
  if (named.length === 0 || named.length === all.length) return null;
  const unknown = named.filter((name) => !answered.countries.has(name) && !answered.metrics.has(name));
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
  const [thing, none] = [
    '\\b(countr(y|ies)|metrics?|indicators?|measures?)\\b',
    '\\b(not found|unknown|invalid|no such)\\b',
  ];
  return new RegExp(`${thing}[^:]*${none}|${none}[^:]*${thing}`, 'i').test(detail);
}

function cacheRefusal(
  names: readonly string[],
  { rectangle }: Task,
  refusal: Refusal,
  { refusedNames, sending }: Search,
): void {
  for (const name of names) {
    const dimension = rectangle.countryCodes.includes(name) ? 'countries' : 'metrics';
    const { outcome, receivedAt: atMs } = refusal;
    refusedNames.add(sending.caller.tenant, dimension, name, { outcome, atMs });
  }
}

function settlePairs(task: Task, pairs: readonly Pair[], refusal: Refusal, { save, sending }: Search): void {
  settleAs(task, pairs, refusal.outcome);
  if (refusal.outcome instanceof Error) return;
  const nothing = pairs.map((pair) => ({ pair, rows: [] }));
  save(sending.caller.tenant, { mode: task.mode, years: null }, nothing, refusal.receivedAt);
}

function giveUp(task: Task, { detail }: Refusal): FetchedRows {
  const words =
    'The service refused these names together and did not say which it does not know. Ask for fewer at once.';
  const fields = { route: observations.route, detail: detail === '' ? undefined : detail };
  settleAs(task, task.pairs, new Failure('BAD_USER_INPUT', words, fields));
  return NOT_WHOLE;
}
