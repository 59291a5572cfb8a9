import { countries, indicators, observations } from '../service/endpoints.ts';
import { COVERED_COUNTRIES } from '../service/records/countries.ts';
import type { Sending } from '../service/sending.ts';
import { Failure } from '../shared/errors.ts';
import {
  type FetchedRows,
  type NameSearch,
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
import { demandFor, type Pair, pairsOf, type Rectangle } from './planner/demand.ts';
import type { Dimension, Learned } from './planner/learned.ts';
import { inWhole } from './planner/modes.ts';

/** Names without trust from which on the service's own list is the cheaper way to find the wrong one. */
const MANY_SUSPECTS = 6;

/** Names of one kind, among which a figure is looked for that is held: more than all countries. */
const MANY_NAMES = 60;

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
  if (sending.isGuess && !namesMetric(refusal, task, learned)) {
    settleAs(task, task.pairs, new WrongGuess());
    return NOT_WHOLE;
  }
  if (task.years !== null && !mayGoBy(refusal, task, learned))
    return task.replan(task.pairs, inWhole(task.pairs, means));
  if (task.search.isRefusedWithYears && refusal.outcome instanceof Error) {
    // Whole series are refused as well: the refusal of the years was for something else.
    task.search.isRefusedWithYears = false;
    learned.learn({ yearsParam: 'unknown' });
  }
  // Parts of a call that is looked into already wait for the rest of it.
  if (task.unproven !== undefined) return settleRefused(task, refusal, search);
  const unproven: NonNullable<Task['unproven']> = [];
  const fetched = await settleRefused({ ...task, unproven }, refusal, search);
  if (unproven.length > 0) task.search.isAnswered ||= await answersKnown(task, search);
  for (const { part, stray, ...one } of unproven) {
    const outcome = task.search.isAnswered ? one.refusal : { ...one.refusal, outcome: stray };
    settleAll(part, outcome, search);
  }
  return fetched;
};

/** True if the service's words refuse metrics, and no country. */
function namesMetric({ detail }: Refusal, { rectangle }: Task, learned: Learned): boolean {
  const named = namedIn(detail, rectangle, learned);
  return named.length > 0 && named.every((name) => rectangle.metricKeys.includes(name));
}

/**
 * Tells if the route is there, if a 404 names nothing and nothing else was asked for: by a call for a figure that has
 * come before. In an operation that holds nothing, the others that it asks for tell as much, for as many calls.
 */
async function answersKnown({ rectangle }: Task, search: Search): Promise<boolean> {
  const known = knownPair(rectangle, search);
  if (known === null) return false;
  const { countryCode, metricKey } = known;
  const figure = { countryCodes: [countryCode], metricKeys: [metricKey] };
  try {
    const reply = await search.calls.ask({ mode: 'latest', rectangle: figure }, search.sending);
    return !reply.isRefused || reply.stray === undefined;
  } catch (error) {
    search.sending.signal.throwIfAborted();
    if (error instanceof Failure) return false;
    throw error;
  }
}

const MODES = ['latest', 'series'] as const;

/** Finds a pair that figures have come for: one that is held, if there is any, and of the same names. */
function knownPair({ countryCodes, metricKeys }: Rectangle, search: Search): Pair | null {
  const { entries, learned, sending } = search;
  const { figured } = learned;
  const first = (own: readonly string[], names: Iterable<string> & { has(name: string): boolean }) =>
    [...new Set([...own.filter((name) => names.has(name)), ...names])].slice(0, MANY_NAMES);
  const keys = first(metricKeys, figured.metrics);
  const codes = first(
    countryCodes.map((code) => code.toUpperCase()),
    figured.countries,
  );
  let known: Pair | null = null;
  for (const metricKey of keys) {
    for (const countryCode of codes) {
      known ??= { countryCode, metricKey };
      const demands = MODES.map((mode) => demandFor(mode, countryCode, metricKey));
      const held = entries.atHand(sending.caller.tenant, demands);
      if (held.some((entry) => entry !== undefined && entry.rows.length > 0))
        return { countryCode, metricKey };
    }
  }
  return known;
}

/** True if a refusal says anything of the figures. Learns from it if the service takes years. */
function mayGoBy(refusal: Refusal, { rectangle, search }: Task, learned: Learned): boolean {
  const isForYears = /year/i.test(refusal.detail);
  if (!isForYears && namedIn(refusal.detail, rectangle, learned).length > 0) return true;
  // A 404 may be for want of rows in these years; whole series may have some.
  if (refusal.outcome instanceof Error) {
    learned.learn({ yearsParam: 'refused' });
    search.isRefusedWithYears = !isForYears;
  }
  return false;
}

/**
 * Settles a task whose call was refused.
 * @param isInferred true if the refusal is that of a larger call and the rest of that call was answered: then a name of
 * this part is refused
 */
async function settleRefused(
  task: Task,
  refusal: Refusal,
  search: Search,
  isInferred = false,
): Promise<FetchedRows> {
  const { rectangle } = task;
  const { learned } = search;
  const named = namedIn(refusal.detail, rectangle, learned);
  if (named.length > 0) return blame(task, refusal, named, search);
  const meant = partOf(task, meantBy(refusal, rectangle));
  const isForAll = meant.pairs.length === task.pairs.length;
  if (!isForAll && meant.pairs.length > 0) {
    settleAll(meant, refusal, search);
    return fetchOthers(task, within(meant.rectangle));
  }
  const suspects = suspectsIn(rectangle, learned);
  if (isForAll && isProven(rectangle, suspects, refusal, learned)) {
    const [only = '', ...others] = [...suspects.countryCodes, ...suspects.metricKeys];
    // A 404 may be for want of rows, unless the rest of the call had some.
    const isForName = isInferred || refusal.outcome instanceof Error;
    const isOnly = others.length === 0 && trustBeside(only, rectangle, learned) >= TRUST.listed;
    const { stray } = refusal;
    if (stray !== undefined && !isInferred) {
      task.unproven?.push({ part: task, refusal, stray });
      return NONE_WHOLE;
    }
    if (isForName && isOnly) remember(rectangle, only, refusal, search);
    return settleAll(task, refusal, search);
  }
  const list = listToLookAt(rectangle, suspects, task.search, learned);
  if (list !== null) {
    task.search.isListAsked[list] = true;
    await lookAtList(list, search);
    return settleRefused(task, refusal, search, isInferred);
  }
  const halves = mayLookFurther(task) ? bisect(rectangle, suspects) : null;
  if (halves === null) return giveUp(task, refusal);
  return askForHalves(partOf(task, halves[0]), partOf(task, halves[1]), refusal, search);
}

/**
 * Counts a refusal that is looked into.
 * @returns true if it may be
 */
function mayLookFurther({ rectangle, search }: Task): boolean {
  const names = rectangle.countryCodes.length + rectangle.metricKeys.length;
  search.refusalsLeft ??= 6 * Math.ceil(Math.log2(names)) + 6;
  search.refusalsLeft -= 1;
  return search.refusalsLeft >= 0;
}

async function askForHalves(
  first: Task,
  second: Task,
  refusal: Refusal,
  search: Search,
): Promise<FetchedRows> {
  // A half that nobody wants is not asked for, though it would tell of the other half.
  if (first.pairs.length === 0) return search.fetch(second, search.sending);
  if (second.pairs.length === 0) return search.fetch(first, search.sending);
  // If two things may be refused, neither can be learned: here names are looked into, not `limit`.
  const reply = await search.calls.askFor(first, search.sending, false);
  first.search.isAnswered ||= !reply.isRefused;
  if (reply.isRefused) {
    const ofFirst = settlingFailures(first, () => settleRefused(first, reply, search));
    return sum(await Promise.all([ofFirst, search.fetch(second, search.sending)]));
  }
  return sum([
    await search.receive(first, reply, search.sending),
    await settleRefused(second, refusal, search, true),
  ]);
}

/** True if a refusal can only mean that there is nothing of any pair, or that each of them is refused. */
function isProven(rectangle: Rectangle, suspects: Suspects, { outcome }: Refusal, learned: Learned): boolean {
  const { countryCodes, metricKeys } = rectangle;
  if (countryCodes.length * metricKeys.length === 1) return true;
  // All names are in the service's own lists, so a 404 can only say that it holds no rows.
  if (suspects.trust >= TRUST.listed && !(outcome instanceof Error)) return true;
  const [name, ...others] = [...suspects.countryCodes, ...suspects.metricKeys];
  if (name === undefined || others.length > 0) return false;
  // The last suspect is in each pair: it makes no difference if it is unknown or has no rows.
  const isEverywhere = (countryCodes.includes(name) ? countryCodes : metricKeys).length === 1;
  return isEverywhere && trustBeside(name, rectangle, learned) >= TRUST.listed;
}

/** The service's own list that tells more of the suspects than further calls would; null if none does. */
function listToLookAt(
  { countryCodes, metricKeys }: Rectangle,
  suspects: Suspects,
  { isListAsked }: NameSearch,
  { answered, listed }: Learned,
): Dimension | null {
  const isUnsure = (code: string) =>
    !answered.countries.has(code.toUpperCase()) && !listed.countries.has(code.toUpperCase());
  const mayAsk = (dimension: Dimension) => !isListAsked[dimension] && listed[dimension].size === 0;
  if (mayAsk('metrics') && suspects.metricKeys.length > MANY_SUSPECTS) return 'metrics';
  const isOneMetric = metricKeys.length === 1 && countryCodes.filter(isUnsure).length > 2;
  if (mayAsk('countries') && (isOneMetric || suspects.countryCodes.length > MANY_SUSPECTS))
    return 'countries';
  return null;
}

/** Has the names in a list noted. A list that can't be had tells nothing. */
async function lookAtList(dimension: Dimension, { ask, sending }: Search): Promise<void> {
  try {
    await (dimension === 'countries' ? ask(countries, {}, sending) : ask(indicators, {}, sending));
  } catch {
    sending.signal.throwIfAborted();
  }
}

/** Settles the pairs of the names that the service's words name, and fetches the others without them. */
function blame(task: Task, refusal: Refusal, named: readonly string[], search: Search): Promise<FetchedRows> {
  const { rectangle, pairs } = task;
  const isBlamed = ({ countryCode, metricKey }: Pair) =>
    named.includes(countryCode) || named.includes(metricKey);
  if (saysUnknown(refusal.detail) || refusal.outcome instanceof Error) {
    for (const name of named) remember(rectangle, name, refusal, search);
  }
  settleAs(task, pairs.filter(isBlamed), refusal.outcome);
  return fetchOthers(task, isBlamed);
}

/** Fetches a task without the part that the service's words mean: of the rest they say nothing. */
function fetchOthers({ pairs, years, rowsOf, replan }: Task, isSettled: (pair: Pair) => boolean) {
  const others = pairs.filter((pair) => !isSettled(pair));
  return replan(others, { years, rowsOf });
}

function remember(
  { countryCodes }: Rectangle,
  name: string,
  { outcome, receivedAt }: Refusal,
  { refusedNames, sending }: Search,
): void {
  const dimension = countryCodes.includes(name) ? 'countries' : 'metrics';
  refusedNames.remember(sending.caller.tenant, dimension, name, { outcome, atMs: receivedAt });
}

function settleAll(task: Task, refusal: Refusal, { keep, sending }: Search): FetchedRows {
  settleAs(task, task.pairs, refusal.outcome);
  if (!(refusal.outcome instanceof Error)) {
    const nothing = pairsOf(task.rectangle).map((pair) => ({ pair, rows: [] }));
    keep(sending.caller.tenant, { mode: task.mode, years: null }, nothing, refusal.receivedAt);
  }
  return NONE_WHOLE;
}

function giveUp(task: Task, refusal: Refusal): FetchedRows {
  const failure = new Failure(
    'BAD_USER_INPUT',
    'The service refused these names together and did not say which it does not know. Ask for fewer at once.',
    { route: observations.route, detail: refusal.detail === '' ? undefined : refusal.detail },
  );
  settleAs(task, task.pairs, failure);
  return NOT_WHOLE;
}

/** The part of a task that lies in a rectangle, with the names of its own pairs alone. */
function partOf(task: Task, rectangle: Rectangle): Task {
  const pairs = task.pairs.filter(within(rectangle));
  const codes = new Set(pairs.map(({ countryCode }) => countryCode));
  const keys = new Set(pairs.map(({ metricKey }) => metricKey));
  return {
    ...task,
    pairs,
    rectangle: {
      countryCodes: rectangle.countryCodes.filter((code) => codes.has(code)),
      metricKeys: rectangle.metricKeys.filter((key) => keys.has(key)),
    },
  };
}

function within({ countryCodes, metricKeys }: Rectangle): (pair: Pair) => boolean {
  const codes = new Set(countryCodes);
  const keys = new Set(metricKeys);
  return (pair) => codes.has(pair.countryCode) && keys.has(pair.metricKey);
}

/** Degrees of trust in a name, from nothing to proof. */
const TRUST = {
  none: 0,
  /** One of the 54 countries that the service is documented to cover. */
  documented: 1,
  /** The service's own list has it. */
  listed: 2,
  /** A call that named it was answered. */
  answered: 3,
} as const;

function trustInCountry(code: string, { answered, listed }: Learned): number {
  const known = code.toUpperCase();
  if (answered.countries.has(known)) return TRUST.answered;
  if (listed.countries.has(known)) return TRUST.listed;
  // If the service's own list is known and lacks a country, it means little that the country is documented.
  return listed.countries.size === 0 && COVERED_COUNTRIES.has(known) ? TRUST.documented : TRUST.none;
}

function trustInMetric(key: string, { answered, listed }: Learned): number {
  if (answered.metrics.has(key)) return TRUST.answered;
  return listed.metrics.has(key) ? TRUST.listed : TRUST.none;
}

type Suspects = ReturnType<typeof suspectsIn>;

/** The names of a refused call that deserve the least trust, with that. */
function suspectsIn({ countryCodes, metricKeys }: Rectangle, known: Learned) {
  const trustOfCodes = countryCodes.map((code) => trustInCountry(code, known));
  const trustOfKeys = metricKeys.map((key) => trustInMetric(key, known));
  const trust = Math.min(...trustOfCodes, ...trustOfKeys);
  return {
    trust,
    countryCodes: countryCodes.filter((_, i) => trustOfCodes[i] === trust),
    metricKeys: metricKeys.filter((_, i) => trustOfKeys[i] === trust),
  };
}

/** The least trust in any name of the rectangle but one. */
function trustBeside(name: string, { countryCodes, metricKeys }: Rectangle, known: Learned): number {
  return Math.min(
    TRUST.answered,
    ...countryCodes.filter((code) => code !== name).map((code) => trustInCountry(code, known)),
    ...metricKeys.filter((key) => key !== name).map((key) => trustInMetric(key, known)),
  );
}

/** The names of a call that the service's words single out: it quotes them or puts them after a colon. */
function pointedAt(detail: string, { countryCodes, metricKeys }: Rectangle): string[] {
  const pointed = [...detail.matchAll(/:\s*([\w.,\s-]+)|["'`]([^"'`]+)["'`]/g)].map(
    (m) => m[1] ?? m[2] ?? '',
  );
  const text = pointed.join(' ').toLowerCase();
  const words = new Set(text.split(/[^\w.-]+/));
  const names = [...countryCodes, ...metricKeys];
  const named = names.filter((name) => words.has(name.toLowerCase()));
  return named.length === names.length ? [] : named;
}

/** Returns the names that a refusal means: those that the service has answered for are not, even if it names them. */
function namedIn(detail: string, rectangle: Rectangle, { answered }: Learned): string[] {
  const isAnswered = (name: string) => answered.countries.has(name) || answered.metrics.has(name);
  return pointedAt(detail, rectangle).filter((name) => !isAnswered(name));
}

/** The part of a call that a refusal means, if it refuses no name: a 404 that singles out names is for want of their rows. */
function meantBy({ outcome, detail }: Refusal, rectangle: Rectangle): Rectangle {
  const pointed = new Set(outcome instanceof Error ? [] : pointedAt(detail, rectangle));
  const meant = (names: readonly string[]) =>
    names.some((name) => pointed.has(name)) ? names.filter((name) => pointed.has(name)) : names;
  return { countryCodes: meant(rectangle.countryCodes), metricKeys: meant(rectangle.metricKeys) };
}

/** True if the service's words say that it doesn't know a country or a measure, rather than that it holds no rows. */
function saysUnknown(detail: string): boolean {
  return /\b(countr(y|ies)|metrics?|indicators?|measures?)\b[^:]*\b(not found|unknown|invalid)|\b(unknown|invalid|no such)\b[^:]*\b(countr(y|ies)|metrics?|indicators?|measures?)\b/i.test(
    detail,
  );
}

/** Two parts of a refused rectangle, half of the suspects in the second; null if it is a single pair. */
function bisect(
  { countryCodes, metricKeys }: Rectangle,
  suspects: Suspects,
): readonly [Rectangle, Rectangle] | null {
  const byMetric = splitNames(metricKeys, suspects.metricKeys);
  const byCountry = splitNames(countryCodes, suspects.countryCodes);
  const isByMetric = suspects.metricKeys.length >= suspects.countryCodes.length || byCountry === null;
  if (byMetric !== null && isByMetric) {
    return [
      { countryCodes, metricKeys: byMetric[0] },
      { countryCodes, metricKeys: byMetric[1] },
    ];
  }
  if (byCountry === null) return null;
  return [
    { countryCodes: byCountry[0], metricKeys },
    { countryCodes: byCountry[1], metricKeys },
  ];
}

function splitNames(
  names: readonly string[],
  suspects: readonly string[],
): readonly [string[], string[]] | null {
  if (names.length < 2) return null;
  const suspected = suspects.length === 0 ? names : suspects;
  const second = new Set(suspected.slice(Math.floor(suspected.length / 2)));
  const first = names.filter((name) => !second.has(name));
  return first.length === 0 ? null : [first, [...second]];
}
