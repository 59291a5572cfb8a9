import { Failure } from '../errors.ts';
import {
  bisect,
  namedIn,
  type Suspects,
  saysUnknown,
  suspectsIn,
  TRUST,
  trustBeside,
} from '../planner/bisect.ts';
import type { Pair, Rectangle } from '../planner/cover.ts';
import type { Dimension } from '../planner/learned.ts';
import type { Sending } from '../upstream/call.ts';
import { observations } from '../upstream/endpoints.ts';
import { type DataCalls, pairsOf, type Refusal, type Rows } from './data-calls.ts';
import type { FetchParts } from './planned.ts';
import { type FetchPairs, settlingFailures, sum, type Task, within } from './tasks.ts';

/** Names of no trust among which the service's own list is the cheaper way to find the wrong one. */
const MANY_SUSPECTS = 6;

export interface BisectParts extends Pick<FetchParts, 'learned' | 'keep' | 'noteNames' | 'refusedNames'> {
  readonly calls: DataCalls;
  readonly fetchPairs: FetchPairs;
  readonly fetchTask: (task: Task) => Promise<number | null>;
  readonly receive: (task: Task, reply: Rows) => Promise<number | null>;
}

/**
 * Settles a task whose call was refused.
 *
 * What the service says of the whole is its word on a part only where no other part can be meant. So names are told
 * apart until each refusal can mean but one of them, or, where it is a 404, until whatever it means comes to the same:
 * that there is nothing. What can't be told apart is a failure, never an empty list.
 *
 * @param isInferred whether the refusal is that of a larger call, the rest of which was answered: then a name of this
 * part is what was refused
 * @returns as {@link FetchPairs}
 */
export type Bisect = (task: Task, refusal: Refusal, isInferred?: boolean) => Promise<number | null>;

export function createBisect(parts: BisectParts, sending: Sending): Bisect {
  const { calls, fetchPairs, fetchTask, receive, learned, keep, refusedNames, noteNames } = parts;
  const { keyDigest } = sending.caller;
  const isListAsked: Record<Dimension, boolean> = { countries: false, metrics: false };
  let refusalsLeft: number | undefined;

  async function settleRefused(task: Task, refusal: Refusal, isInferred = false): Promise<number | null> {
    const { rectangle } = task;
    const named = namedIn(refusal.detail, rectangle, learned);
    if (named.length > 0) return blame(task, refusal, named);
    const suspects = suspectsIn(rectangle, learned);
    if (isProven(rectangle, suspects, refusal)) {
      const [only = '', ...others] = [...suspects.countryCodes, ...suspects.metricKeys];
      // A 404 may be for want of rows, save where the rest of the call had some.
      const isForName = isInferred || refusal.outcome instanceof Error;
      const isOnly = others.length === 0 && trustBeside(only, rectangle, learned) >= TRUST.listed;
      if (isForName && isOnly) remember(rectangle, only, refusal);
      return settleAll(task, refusal);
    }
    const list = listToLookAt(rectangle, suspects);
    if (list !== null && noteNames !== undefined) {
      isListAsked[list] = true;
      await noteNames(list, sending);
      return settleRefused(task, refusal, isInferred);
    }
    refusalsLeft ??=
      6 * Math.ceil(Math.log2(rectangle.countryCodes.length + rectangle.metricKeys.length)) + 6;
    refusalsLeft -= 1;
    const halves = bisect(rectangle, suspects);
    if (halves === null || refusalsLeft < 0) return giveUp(task, refusal);
    const [first, second] = halves.map((half) => partOf(task, half)) as [Task, Task];
    // What nobody wants is not asked for, though it would tell of the other half.
    if (first.wanted.length === 0) return fetchTask(second);
    if (second.wanted.length === 0) return fetchTask(first);
    // With two things that may be refused, nothing is learned of either: here names are looked into, not `limit`.
    const reply = await calls.askWithLimit(first.mode, first.rectangle, first.rowsOf, false);
    if (reply.isRefused) {
      const ofFirst = settlingFailures(first, () => settleRefused(first, reply));
      return sum(await Promise.all([ofFirst, fetchTask(second)]));
    }
    return sum([await receive(first, reply), await settleRefused(second, refusal, true)]);
  }

  /** Whether a refusal can only mean that there is nothing of any pair, or that each of them is refused. */
  function isProven(rectangle: Rectangle, suspects: Suspects, { outcome }: Refusal): boolean {
    const { countryCodes, metricKeys } = rectangle;
    if (countryCodes.length * metricKeys.length === 1) return true;
    // All names are in the service's own lists, so a 404 can only say that it holds no rows.
    if (suspects.trust >= TRUST.listed && !(outcome instanceof Error)) return true;
    if (suspects.countryCodes.length + suspects.metricKeys.length !== 1) return false;
    const [name] = [...suspects.countryCodes, ...suspects.metricKeys] as [string];
    // The one that is left is in each pair, so that it makes no difference whether it is unknown or has no rows.
    const isEverywhere = (countryCodes.includes(name) ? countryCodes : metricKeys).length === 1;
    return isEverywhere && trustBeside(name, rectangle, learned) >= TRUST.listed;
  }

  /** The list of the service's own that tells more of the suspects than further calls would; null where none does. */
  function listToLookAt({ countryCodes, metricKeys }: Rectangle, suspects: Suspects): Dimension | null {
    const isUnsure = (code: string) =>
      !learned.answered.countries.has(code.toUpperCase()) &&
      !learned.listed.countries.has(code.toUpperCase());
    const mayAsk = (dimension: Dimension) => !isListAsked[dimension] && learned.listed[dimension].size === 0;
    if (mayAsk('metrics') && suspects.metricKeys.length > MANY_SUSPECTS) return 'metrics';
    const isOneMetric = metricKeys.length === 1 && countryCodes.filter(isUnsure).length > 2;
    if (mayAsk('countries') && (isOneMetric || suspects.countryCodes.length > MANY_SUSPECTS))
      return 'countries';
    return null;
  }

  /** Settles the pairs of names that the service names, and fetches the others without them. */
  function blame(task: Task, refusal: Refusal, named: readonly string[]): Promise<number | null> {
    const { mode, rectangle, wanted, rowsOf, settle, round } = task;
    const isBlamed = ({ countryCode, metricKey }: Pair) =>
      named.includes(countryCode) || named.includes(metricKey);
    if (saysUnknown(refusal.detail) || refusal.outcome instanceof Error) {
      for (const name of named) remember(rectangle, name, refusal);
    }
    for (const pair of wanted.filter(isBlamed)) settle(pair, refusal.outcome);
    const others = wanted.filter((pair) => !isBlamed(pair));
    return fetchPairs(mode, others, rowsOf, settle, round);
  }

  function remember({ countryCodes }: Rectangle, name: string, { outcome, receivedAt }: Refusal): void {
    const dimension = countryCodes.includes(name) ? 'countries' : 'metrics';
    refusedNames.remember(keyDigest, dimension, name, { outcome, atMs: receivedAt });
  }

  /** @returns how many rows there are: none */
  function settleAll(task: Task, refusal: Refusal): number {
    for (const pair of task.wanted) task.settle(pair, refusal.outcome);
    if (!(refusal.outcome instanceof Error)) {
      const nothing = pairsOf(task.rectangle).map((pair) => ({ pair, rows: [] }));
      keep(keyDigest, task.mode, nothing, refusal.receivedAt);
    }
    return 0;
  }

  function giveUp(task: Task, refusal: Refusal): null {
    const failure = new Failure(
      'BAD_USER_INPUT',
      'The service refused these names together and did not say which it does not know. Ask for fewer at once.',
      { route: observations.route, detail: refusal.detail === '' ? undefined : refusal.detail },
    );
    for (const pair of task.wanted) task.settle(pair, failure);
    return null;
  }

  return settleRefused;
}

/** The part of a task that lies in a rectangle, with the names of its demanded pairs alone. */
function partOf(task: Task, rectangle: Rectangle): Task {
  const wanted = task.wanted.filter(within(rectangle));
  const codes = new Set(wanted.map(({ countryCode }) => countryCode));
  const keys = new Set(wanted.map(({ metricKey }) => metricKey));
  return {
    ...task,
    wanted,
    rectangle: {
      countryCodes: rectangle.countryCodes.filter((code) => codes.has(code)),
      metricKeys: rectangle.metricKeys.filter((key) => keys.has(key)),
    },
  };
}
