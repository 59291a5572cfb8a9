import { mapValue, type PromiseOrValue, yieldToEventLoop } from '../async/turns.ts';
import { Failure } from '../errors.ts';
import {
  bisect,
  namedIn,
  type Suspects,
  saysUnknown,
  suspectsIn,
  TRUST,
  trustBeside,
} from '../plan/bisect.ts';
import type { Pair, Rectangle } from '../plan/cover.ts';
import type { YearRange } from '../plan/demand.ts';
import { type Dimension, type Learned, mayNameYears } from '../plan/learned.ts';
import { inWhole } from '../plan/modes.ts';
import type { Sending } from '../service/call.ts';
import { observations } from '../service/endpoints.ts';
import {
  type DataCalls,
  type FetchedRows,
  type FetchTask,
  isAboutYears,
  type NameSearch,
  NONE_WHOLE,
  NOT_WHOLE,
  pairsOf,
  type Receive,
  type Refusal,
  type Reply,
  settlingFailures,
  sum,
  type Task,
  within,
} from './data-calls.ts';
import type { ObservationEntries } from './entries.ts';
import type { RefusedNames } from './names.ts';
import { isForName, isUsable } from './repair.ts';

/** Names without trust from which on the service's own list is the cheaper way to find the wrong one. */
const MANY_SUSPECTS = 6;

/** Pairs, or rows of an answer, that take milliseconds to settle. */
const MANY = 300;

export interface BisectedParts {
  readonly learned: Learned;
  readonly keep: ObservationEntries['keep'];
  readonly refusedNames: Pick<RefusedNames, 'remember'>;
  /** Notes the service's own list of countries or of measures in `learned`, if it can be had. */
  readonly noteNames?: (dimension: Dimension, sending: Sending) => Promise<void>;
}

/** The means to look into a refusal. */
interface Search extends BisectedParts {
  readonly ask: DataCalls['askFor'];
  readonly sending: Sending;
  readonly receive: Receive;
  /**
   * Parts refused by a 404 that names nothing. It says that there is nothing of them if the route has answered anything
   * else.
   */
  readonly unproven: Unproven[];
}

interface Unproven {
  readonly task: Task;
  readonly refusal: Refusal;
  readonly stray: Failure;
}

/**
 * Asks for a task, and hands up the answer. If the call is refused, further calls tell its names apart, and the answer
 * to each part is handed up.
 *
 * The service's word on the whole is its word on a part only if no other part can be meant. So names are told apart
 * until each refusal can mean but one of them. For a 404, it is enough that all its meanings come to the same: there is
 * nothing. Names that can't be told apart are a failure, never an empty list.
 */
export function bisected(ask: DataCalls['askFor'], parts: BisectedParts): FetchTask {
  return (task, sending, receive) => {
    const search: Search = { ...parts, ask, sending, receive, unproven: [] };
    return mapValue(askFor(task, search), (fetched) => {
      for (const { task: part, refusal, stray } of search.unproven) {
        settleAll(part, task.search.isAnswered ? refusal : { ...refusal, outcome: stray }, search);
      }
      return fetched;
    });
  };
}

function askFor(task: Task, search: Search): PromiseOrValue<FetchedRows> {
  const { ask, sending, receive, learned } = search;
  return settlingFailures(task, async () => {
    if (task.years !== null && !mayNameYears(learned)) return askInWhole(task, search);
    const reply = await ask(task, sending);
    task.search.isAnswered ||= !reply.isRefused;
    if (isLong(task, reply)) await yieldToEventLoop(sending.caller);
    if (task.years !== null && !mayGoBy(reply, task, task.years, search)) return askInWhole(task, search);
    if (!reply.isRefused) return receive(task, reply);
    if (task.search.isRefusedWithYears && reply.outcome instanceof Error) {
      // Whole series are refused as well: the refusal of the years was for something else.
      task.search.isRefusedWithYears = false;
      learned.learn('yearsParam', 'unknown');
    }
    return settleRefused(task, reply, search);
  });
}

/** True if it takes long to settle a task by a reply. */
function isLong({ pairs }: Task, reply: Reply): boolean {
  return pairs.length > MANY || (!reply.isRefused && reply.list.received > MANY);
}

/**
 * True if the reply to a call that named years says anything of the figures. Learns from it if the service takes years.
 */
function mayGoBy(reply: Reply, { rectangle, search }: Task, years: YearRange, { learned }: Search): boolean {
  if (!reply.isRefused) return isUsable(reply, years, learned);
  if (isForName(reply, rectangle, learned)) return true;
  // A 404 may be for want of rows in these years; whole series may have some.
  if (reply.outcome instanceof Error) {
    learned.learn('yearsParam', 'refused');
    search.isRefusedWithYears = !isAboutYears(reply.detail);
  }
  return false;
}

/** Has whole series planned in place of some years: they have other rows, so that other calls bring them. */
function askInWhole(task: Task, search: Search): Promise<FetchedRows> {
  return task.replan(task.pairs, inWhole(task.pairs, search));
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
  const suspects = suspectsIn(rectangle, learned);
  if (isProven(rectangle, suspects, refusal, learned)) {
    const [only = '', ...others] = [...suspects.countryCodes, ...suspects.metricKeys];
    // A 404 may be for want of rows, unless the rest of the call had some.
    const isForName = isInferred || refusal.outcome instanceof Error;
    const isOnly = others.length === 0 && trustBeside(only, rectangle, learned) >= TRUST.listed;
    const { stray } = refusal;
    if (stray !== undefined && !isInferred) {
      search.unproven.push({ task, refusal, stray });
      return NONE_WHOLE;
    }
    if (isForName && isOnly) remember(rectangle, only, refusal, search);
    return settleAll(task, refusal, search);
  }
  const list = listToLookAt(rectangle, suspects, task.search, learned);
  if (list !== null && search.noteNames !== undefined) {
    task.search.isListAsked[list] = true;
    await search.noteNames(list, search.sending);
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
  if (first.pairs.length === 0) return askFor(second, search);
  if (second.pairs.length === 0) return askFor(first, search);
  // If two things may be refused, neither can be learned: here names are looked into, not `limit`.
  const reply = await search.ask(first, search.sending, false);
  first.search.isAnswered ||= !reply.isRefused;
  if (reply.isRefused) {
    const ofFirst = settlingFailures(first, () => settleRefused(first, reply, search));
    return sum(await Promise.all([ofFirst, askFor(second, search)]));
  }
  return sum([await search.receive(first, reply), await settleRefused(second, refusal, search, true)]);
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

/** Settles the pairs of the names that the service's words name, and fetches the others without them. */
function blame(task: Task, refusal: Refusal, named: readonly string[], search: Search): Promise<FetchedRows> {
  const { rectangle, pairs, settle } = task;
  const isBlamed = ({ countryCode, metricKey }: Pair) =>
    named.includes(countryCode) || named.includes(metricKey);
  if (saysUnknown(refusal.detail) || refusal.outcome instanceof Error) {
    for (const name of named) remember(rectangle, name, refusal, search);
  }
  for (const pair of pairs.filter(isBlamed)) settle(pair, refusal.outcome);
  const others = pairs.filter((pair) => !isBlamed(pair));
  return task.replan(others, { years: task.years, rowsOf: task.rowsOf });
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

/** Settles all pairs as having nothing, or as refused. */
function settleAll(task: Task, refusal: Refusal, { keep, sending }: Search): FetchedRows {
  for (const pair of task.pairs) task.settle(pair, refusal.outcome);
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
  for (const pair of task.pairs) task.settle(pair, failure);
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
