import { Failure } from '../errors.ts';
import { isCut, wholeRuns } from '../planner/completeness.ts';
import { cover, expectedRows, type Pair, type Rectangle, type RowsOf } from '../planner/cover.ts';
import { type Demand, demandKey, type Kind, pairKey } from '../planner/demand.ts';
import { chooseKinds, oneRow } from '../planner/kinds.ts';
import type { Learned } from '../planner/learned.ts';
import { newestOf } from '../planner/newest.ts';
import { halve, namedIn, onlySuspectIn } from '../planner/suspects.ts';
import { makeCall, type Send, type Sending } from '../upstream/call.ts';
import { observations } from '../upstream/endpoints.ts';
import type { ObservationList, ObservationRecord } from '../upstream/records/observations.ts';
import { ownTurn } from '../upstream/soon.ts';
import type { Cells } from './cells.ts';
import type { Culprits } from './culprits.ts';
import type { Outcome } from './outcome.ts';
import { fetchYears } from './years.ts';

/** Called once a demand, as soon as its outcome is known. */
export type Settle = (demandKey: string, outcome: Outcome) => void;

export interface FiguresParts {
  readonly send: Send;
  readonly learned: Learned;
  readonly culprits: Culprits;
  readonly codesPerCall: number;
  readonly overfetchRows: number;
  /** Holds what an answer said, of pairs that nobody wanted too. */
  readonly keep: Cells['keep'];
}

/** Characters of codes and keys in one address; servers and proxies take 8,000 and more. */
const MAX_ADDRESS = 6_000;

/** Rounds in which a cut answer is asked for in smaller pieces before it is given up. */
const MAX_ROUNDS = 8;

/** Refused calls that one batch may spend on finding out which of its names the service refuses. */
const MAX_REFUSALS = 24;

/** Demands beyond which a plan has neither room for companions, nor can be made several times at little cost. */
const MAX_ACCOMPANIED = 1_000;

/** Demands that take milliseconds to plan, and pairs that take as long to settle. */
const MANY = 1_000;
const MANY_PAIRS = 300;

/** A data call that was answered with rows. */
interface Rows {
  readonly isRefused: false;
  readonly list: ObservationList;
  /** The limit that was asked for. */
  readonly limit: number | undefined;
  readonly receivedAt: number;
}

/** A data call that was refused, and what that means for what was wanted of it. */
interface Refusal {
  readonly isRefused: true;
  readonly outcome: Outcome;
  readonly detail: string;
}

type Reply = Rows | Refusal;

/** Settles the pairs of one kind. */
type SettlePair = (pair: Pair, outcome: Outcome) => void;

/**
 * Fetches a set of demands in the fewest calls the service's limits allow, and settles each of them by its own:
 * a cut answer is completed, a name that the service refuses fails its own demands alone, a malformed row the
 * figures of its pair. Rejects only when `sending.signal` aborts.
 */
export async function fetchFigures(
  demands: readonly Demand[],
  parts: FiguresParts,
  sending: Sending,
  settle: Settle,
): Promise<void> {
  const { learned, culprits } = parts;
  const { partition } = sending.caller;
  const open: Demand[] = [];
  for (const demand of demands) {
    const known = culprits.outcomeOf(partition, demand);
    if (known === undefined) open.push(demand);
    else settle(demandKey(demand), known);
  }
  if (open.length > MANY) await ownTurn();
  const plan = chooseKinds(open, limitsOf(parts), learned.seriesRows);
  if (open.length > MANY) await ownTurn();
  const fetch = createFetch(parts, sending);
  const wanted = new Set(open.map(demandKey));
  const withoutSeries: Pair[] = [];
  const settleLatest: SettlePair = (pair, outcome) => settle(demandKey({ ...pair, kind: 'latest' }), outcome);
  const settleSeries: SettlePair = (pair, outcome) => {
    settle(demandKey({ ...pair, kind: 'series' }), outcome);
    if (!wanted.has(demandKey({ ...pair, kind: 'latest' }))) return;
    const isTooLong = outcome instanceof Failure && outcome.code === 'UPSTREAM_INCOMPLETE';
    if (isTooLong) withoutSeries.push(pair);
    else settleLatest(pair, latestOf(outcome));
  };
  await Promise.all([
    fetch('latest', plan.latest, oneRow, settleLatest, 0),
    fetch('series', plan.series, hopefulRows(plan.series, learned), settleSeries, 0),
  ]);
  // A series that can't be had whole has a latest figure all the same.
  await fetch('latest', withoutSeries, oneRow, settleLatest, 0);
}

/** What demands are planned to take; an answer that is cut short, or refused, takes more. */
export interface Estimate {
  readonly calls: number;
  /** Rows that the calls are expected to bring. */
  readonly rows: number;
}

export type Planning = Pick<FiguresParts, 'learned' | 'codesPerCall' | 'overfetchRows'>;

export function estimate(demands: readonly Demand[], planning: Planning): Estimate {
  const { learned } = planning;
  const limits = limitsOf(planning);
  const { latest, series } = chooseKinds(demands, limits, learned.seriesRows);
  let [calls, rows] = [0, 0];
  const add = (pairs: readonly Pair[], rowsOf: RowsOf) => {
    for (const rectangle of pairs.length === 0 ? [] : cover(pairs, limits, rowsOf)) {
      calls += 1;
      rows += expectedRows(rectangle, rowsOf);
    }
  };
  add(latest, oneRow);
  add(series, hopefulRows(series, learned));
  return { calls, rows };
}

/**
 * The most of some companions, from the first on, that go along with demands at no further call: as far as the answer
 * stays within what the service is known to bring, and within the rows that may be fetched unasked.
 */
export function goingAlong(
  demands: readonly Demand[],
  companions: readonly Demand[],
  planning: Planning,
): readonly Demand[] {
  const { learned, overfetchRows } = planning;
  const known = companions.filter(
    ({ kind, countryCode, metricKey }) => kind === 'latest' || learned.knowsSeries(countryCode, metricKey),
  );
  if (known.length === 0 || demands.length > MAX_ACCOMPANIED) return [];
  const alone = estimate(demands, planning);
  // Short of the limit, so that a figure more than was expected doesn't cut the answer.
  const limitRows = learned.limitParam === 'accepted' ? learned.maxRows : learned.defaultRows;
  const mostRows = Math.min(alone.rows + overfetchRows, alone.calls * limitRows * 0.9);
  for (let count = known.length; count > 0; count = Math.floor(count / 3)) {
    const some = known.slice(0, count);
    const { calls, rows } = estimate([...demands, ...some], planning);
    if (calls <= alone.calls && rows <= mostRows) return some;
  }
  return [];
}

function limitsOf({ learned, codesPerCall, overfetchRows }: Planning) {
  return { maxRows: learned.maxRows, maxCodes: codesPerCall, maxAddress: MAX_ADDRESS, overfetchRows };
}

/**
 * Rows of series to plan by. A first call for series of unknown length asks for all that is wanted: the service's
 * total then tells how many calls the rest takes, and what came is kept. That is as many calls as had the lengths
 * been known, while a guess is paid for either way. Only where the service gives no totals does it have to be guessed.
 */
function hopefulRows(wanted: readonly Pair[], learned: Learned): RowsOf {
  if (learned.totals === 'untold') return learned.seriesRows;
  const keys = new Set(wanted.map(({ countryCode, metricKey }) => pairKey(countryCode, metricKey)));
  return (code, metric) =>
    keys.has(pairKey(code, metric)) && !learned.knowsSeries(code, metric)
      ? 1
      : learned.seriesRows(code, metric);
}

function latestOf(outcome: Outcome): Outcome {
  if (outcome instanceof Error) return outcome;
  const newest = newestOf(outcome);
  return newest === null ? [] : [newest];
}

/** One rectangle to fetch. */
interface Task extends Share {
  readonly kind: Kind;
  /** Rows that its pairs are expected to have. */
  readonly rowsOf: RowsOf;
  readonly settle: SettlePair;
  /** How often a cut answer was asked for in pieces before. */
  readonly round: number;
}

/** Row counts add up only where every part came whole. */
const UNKNOWN = Number.NaN;

function createFetch({ send, learned, culprits, codesPerCall, keep }: FiguresParts, sending: Sending) {
  const { partition } = sending.caller;
  let refusalsLeft = MAX_REFUSALS;

  /**
   * Plans and fetches pairs of one kind.
   * @returns the rows that came for them, those without a figure counted; NaN where not everything came
   */
  async function fetchPairs(
    kind: Kind,
    pairs: readonly Pair[],
    rowsOf: RowsOf,
    settle: SettlePair,
    round: number,
  ): Promise<number> {
    if (pairs.length === 0) return 0;
    const limits = { maxRows: learned.maxRows, maxCodes: codesPerCall, maxAddress: MAX_ADDRESS };
    const rectangles = cover(pairs, limits, rowsOf);
    if (pairs.length > MANY) await ownTurn();
    const shares = shareOut(pairs, rectangles);
    const fetchShare = (share: Share) => fetchRectangle({ ...share, kind, rowsOf, settle, round });
    // The first call teaches what the service takes: the others wait for it, so that not all run into the same wall.
    const isTaught = learned.limitParam === 'accepted' || learned.limitParam === 'refused';
    const first = !isTaught && shares.length > 1 ? shares.splice(0, 1) : [];
    const counts: number[] = [];
    for (const share of first) counts.push(await fetchShare(share));
    counts.push(...(await Promise.all(shares.map(fetchShare))));
    return counts.reduce((total, count) => total + count, 0);
  }

  async function fetchRectangle(task: Task): Promise<number> {
    return settlingFailures(task, async () => {
      const reply = await askWithLimit(task);
      if (task.wanted.length > MANY_PAIRS) await ownTurn();
      return reply.isRefused ? isolate(task, reply) : receive(task, reply);
    });
  }

  /** A failure on the way is the outcome of every pair that was wanted there. */
  async function settlingFailures({ wanted, settle }: Task, fetch: () => Promise<number>): Promise<number> {
    try {
      return await fetch();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      for (const pair of wanted) settle(pair, error);
      return UNKNOWN;
    }
  }

  /** One data call, with `limit` where more than a default page is expected and the service may know it. */
  async function askWithLimit({ kind, rectangle, rowsOf }: Task, mayTry = true): Promise<Reply> {
    const mayBeLong =
      expectedRows(rectangle, rowsOf) >= learned.defaultRows ||
      (kind === 'series' && !everyPair(rectangle, (c, m) => learned.knowsSeries(c, m)));
    const isWorthTrying = mayTry && mayBeLong && learned.limitParam !== 'refused';
    const isWorthIt = learned.limitParam === 'accepted' || isWorthTrying;
    const reply = await ask(kind, rectangle, isWorthIt ? learned.maxRows : undefined);
    if (!reply.isRefused || !isWorthIt || learned.limitParam === 'accepted') return reply;
    if (namedIn(reply.detail, rectangle).length > 0) return reply;
    const told = highestLimitIn(reply.detail, learned.maxRows);
    if (told !== null) {
      learned.maxRows = told;
      return ask(kind, rectangle, told);
    }
    const plain = await ask(kind, rectangle, undefined);
    if (!plain.isRefused) learned.limitParam = 'refused';
    return plain;
  }

  async function ask(
    kind: Kind,
    { countryCodes, metricKeys }: Rectangle,
    limit: number | undefined,
    years: { startYear?: number | undefined; endYear?: number | undefined } = {},
  ): Promise<Reply> {
    const params = { countryCodes, metricKeys, latest: kind === 'latest', limit, ...years };
    try {
      const answer = await send(makeCall(observations, params), sending);
      if (answer.status === 404) {
        return { isRefused: true, outcome: [], detail: (answer.body as { detail?: string }).detail ?? '' };
      }
      const list = observations.decode(answer.body, params, answer.receivedAt);
      learnLimit(list, limit);
      return { isRefused: false, list, limit, receivedAt: answer.receivedAt };
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'BAD_USER_INPUT') throw error;
      return { isRefused: true, outcome: error, detail: error.fields.detail ?? '' };
    }
  }

  function learnLimit({ received, meta }: ObservationList, asked: number | undefined): void {
    if (meta.limit !== null) {
      if (learned.limitParam === 'unknown') learned.limitParam = 'told';
      if (asked === undefined) learned.defaultRows = meta.limit;
      const isCap = asked !== undefined && meta.limit < asked;
      if (isCap || learned.limitParam === 'refused' || meta.limit > learned.maxRows)
        learned.maxRows = meta.limit;
    }
    if (asked !== undefined) learned.limitParam = 'accepted';
    learned.maxRows = Math.max(1, learned.maxRows, received);
    if (meta.total === null) learned.totals = 'untold';
    else if (meta.total > received) learned.totals = 'true';
  }

  /** Hands an answer's rows to their pairs, after completing it where the service cut it short. */
  async function receive(task: Task, reply: Rows): Promise<number> {
    const { kind, rectangle, wanted, settle } = task;
    const { list, limit, receivedAt } = reply;
    for (const code of rectangle.countryCodes) learned.harmless.countries.add(code.toUpperCase());
    for (const key of rectangle.metricKeys) learned.harmless.metrics.add(key.toLowerCase());
    const byPair = groupByPair(list.rows);
    const extent = {
      received: list.received,
      total: list.meta.total,
      limit: list.meta.limit,
      askedLimit: limit,
      isEveryPairPresent: kind === 'latest' && everyPair(rectangle, (c, m) => byPair.has(pairKey(c, m))),
      isTotalTrue: learned.totals === 'true',
    };
    if (isCut(extent)) {
      return wanted.length === 0 ? UNKNOWN : complete(task, reply);
    }

    const faulty = new Map<string, Failure>();
    for (const { countryCode, metricKey, failure } of list.faults) {
      if (countryCode === null || metricKey === null) throw failure;
      faulty.set(pairKey(countryCode, metricKey), failure);
    }
    const sound = pairsOf(rectangle)
      .filter((pair) => !faulty.has(pairKey(pair.countryCode, pair.metricKey)))
      .map((pair) => ({ pair, rows: byPair.get(pairKey(pair.countryCode, pair.metricKey)) ?? [] }));
    keep(partition, kind, sound, receivedAt);
    const unwanted = new Map(byPair);
    for (const pair of wanted) {
      const key = pairKey(pair.countryCode, pair.metricKey);
      settle(pair, faulty.get(key) ?? byPair.get(key) ?? []);
      unwanted.delete(key);
    }
    if (kind === 'series') {
      for (const code of rectangle.countryCodes) {
        for (const metric of rectangle.metricKeys) {
          learned.learnSeries(code, metric, byPair.get(pairKey(code, metric))?.length ?? 0);
        }
      }
    }
    return [...unwanted.values()].reduce((count, rows) => count - rows.length, list.received);
  }

  /**
   * Gets the rest of a cut answer. Pairs that look whole are kept, the others are asked for again, planned by what
   * the total says is left; once everything came, the total proves what was kept.
   */
  async function complete(task: Task, reply: Rows): Promise<number> {
    const { list, limit, receivedAt } = reply;
    const { kind, rectangle, wanted, rowsOf, settle, round } = task;
    const { received, meta } = list;
    const mayAskForMore = limit === undefined && learned.limitParam !== 'refused';
    // A total that is no higher than what came may be all there is, or a count of what came: it tells nothing.
    const told = meta.total !== null && meta.total > received ? meta.total : null;
    if (limit === undefined && told !== null) learned.defaultRows = Math.min(learned.defaultRows, received);
    const isLimitTold = told !== null || meta.limit !== null;
    if (!mayAskForMore && isLimitTold) learned.maxRows = Math.min(learned.maxRows, meta.limit ?? received);
    if (!mayAskForMore && rectangle.countryCodes.length === 1 && rectangle.metricKeys.length === 1) {
      return completePair(task, reply);
    }
    if (round >= MAX_ROUNDS) throw incomplete(received, meta.total);

    const isPlain = list.rows.length === received;
    const looksWhole = told !== null && isPlain ? wholeRuns(list.rows, rowKey, kind) : new Map();
    const wantedKeys = new Set(wanted.map((pair) => pairKey(pair.countryCode, pair.metricKey)));
    const left = pairsOf(rectangle).filter(
      (pair) => !looksWhole.has(pairKey(pair.countryCode, pair.metricKey)),
    );
    const canProve = left.every((pair) => wantedKeys.has(pairKey(pair.countryCode, pair.metricKey)));
    const kept: Map<string, ObservationRecord[]> = canProve ? looksWhole : new Map();
    const again = canProve ? left : wanted;

    const keptRows = [...kept.values()].reduce((rows, run) => rows + run.length, 0);
    const rowsLeft = told === null ? learned.maxRows * 2 : told - keptRows;
    // At least one row each: the total shows that some of these are longer than was thought.
    const guess: RowsOf = (c, m) => (kind === 'latest' ? 1 : Math.max(1, learned.seriesRows(c, m)));
    const expected = (canProve ? left : pairsOf(rectangle)).reduce(
      (n, p) => n + guess(p.countryCode, p.metricKey),
      0,
    );
    // What came of a pair is the least it has: whoever is left is not put into one call with it again unawares.
    const came = groupByPair(list.rows);
    const cameOf: RowsOf = (c, m) => came.get(pairKey(c, m))?.length ?? 0;
    const scaled: RowsOf = (c, m) =>
      kept.has(pairKey(c, m))
        ? cameOf(c, m)
        : Math.max(cameOf(c, m), Math.ceil((guess(c, m) * rowsLeft) / Math.max(1, expected)));
    if (kind === 'series') {
      for (const { countryCode, metricKey } of pairsOf(rectangle)) {
        const least = cameOf(countryCode, metricKey);
        if (least > learned.seriesRows(countryCode, metricKey))
          learned.learnSeries(countryCode, metricKey, least);
      }
    }
    const replanned = told === null || kind === 'series' ? scaled : rowsOf;
    const count = (await fetchPairs(kind, again, replanned, settle, round + 1)) + keptRows;
    if (kept.size === 0) return count;

    const keptPairs = wanted.filter((pair) => kept.has(pairKey(pair.countryCode, pair.metricKey)));
    if (count === told) {
      const whole = pairsOf(rectangle).flatMap((pair) => {
        const rows = kept.get(pairKey(pair.countryCode, pair.metricKey));
        return rows === undefined ? [] : { pair, rows };
      });
      keep(partition, kind, whole, receivedAt);
      for (const pair of keptPairs) {
        const rows = kept.get(pairKey(pair.countryCode, pair.metricKey)) ?? [];
        if (kind === 'series') learned.learnSeries(pair.countryCode, pair.metricKey, rows.length);
        settle(pair, rows);
      }
      return count;
    }
    return count - keptRows + (await fetchPairs(kind, keptPairs, replanned, settle, round + 1));
  }

  /** Gets the rest of a single series, which only a range of years can split. */
  async function completePair(
    { kind, rectangle, wanted, settle }: Task,
    { list, receivedAt }: Rows,
  ): Promise<number> {
    const { received, meta } = list;
    if (kind === 'latest' || meta.total === null) throw incomplete(received, meta.total);
    const limit = learned.limitParam === 'accepted' ? learned.maxRows : undefined;
    const askYears = async (startYear: number | undefined, endYear: number | undefined) => {
      const reply = await ask(kind, rectangle, limit, { startYear, endYear });
      return reply.isRefused ? null : reply.list;
    };
    const rows = await fetchYears(list, meta.total, limit, askYears);
    if (rows === null) throw incomplete(received, meta.total);
    keep(
      partition,
      kind,
      pairsOf(rectangle).map((pair) => ({ pair, rows })),
      receivedAt,
    );
    for (const pair of wanted) {
      learned.learnSeries(pair.countryCode, pair.metricKey, rows.length);
      settle(pair, rows);
    }
    return rows.length;
  }

  /**
   * Finds which name of a refused call the service refuses: the one that its words name, or else by halving the
   * names it has never answered for. The culprit's demands get the refusal, the others their figures.
   */
  async function isolate(task: Task, refusal: Refusal): Promise<number> {
    const { kind, rectangle, wanted, rowsOf, settle, round } = task;
    const { outcome, detail } = refusal;
    const named = namedIn(detail, rectangle);
    const blamed = named.length > 0 ? named : onlySuspectIn(rectangle, learned);
    if (blamed.length > 0) {
      for (const name of blamed) culprits.remember(partition, name, outcome);
      const isBlamed = (pair: Pair) => culprits.outcomeOf(partition, pair) !== undefined;
      for (const pair of wanted.filter(isBlamed)) settle(pair, outcome);
      const others = wanted.filter((pair) => !isBlamed(pair));
      return fetchPairs(kind, others, rowsOf, settle, round + 1);
    }
    const halves = halve(rectangle, learned);
    refusalsLeft -= 1;
    if (halves === null || refusalsLeft < 0) {
      for (const pair of wanted) settle(pair, outcome);
      const [code = '', key = ''] = [rectangle.countryCodes[0], rectangle.metricKeys[0]];
      if (halves === null) culprits.remember(partition, pairKey(code, key), outcome);
      return 0;
    }
    const [first, second] = halves.map((half): Task => {
      return { ...task, rectangle: half, wanted: wanted.filter(within(half)) };
    }) as [Task, Task];
    // With two things that may be refused, nothing is learned of either: here names are looked into, not `limit`.
    const reply = await askWithLimit(first, false);
    if (reply.isRefused) {
      const counts = await Promise.all([isolate(first, reply), fetchRectangle(second)]);
      return counts[0] + counts[1];
    }
    const count = await settlingFailures(first, () => receive(first, reply));
    return count + (await isolate(second, refusal));
  }

  return fetchPairs;
}

/** A planned rectangle and the demanded pairs that it answers. */
interface Share {
  readonly rectangle: Rectangle;
  readonly wanted: readonly Pair[];
}

/** Gives each pair to the first rectangle that holds it. */
function shareOut(pairs: readonly Pair[], rectangles: readonly Rectangle[]): Share[] {
  let rest = pairs;
  return rectangles.map((rectangle) => {
    const isHeld = within(rectangle);
    const wanted = rest.filter(isHeld);
    rest = rest.filter((pair) => !isHeld(pair));
    return { rectangle, wanted };
  });
}

function within({ countryCodes, metricKeys }: Rectangle): (pair: Pair) => boolean {
  const codes = new Set(countryCodes);
  const keys = new Set(metricKeys);
  return (pair) => codes.has(pair.countryCode) && keys.has(pair.metricKey);
}

function pairsOf({ countryCodes, metricKeys }: Rectangle): Pair[] {
  return countryCodes.flatMap((countryCode) => metricKeys.map((metricKey) => ({ countryCode, metricKey })));
}

function everyPair(
  { countryCodes, metricKeys }: Rectangle,
  test: (code: string, key: string) => boolean,
): boolean {
  return countryCodes.every((code) => metricKeys.every((key) => test(code, key)));
}

function rowKey({ countryCode, metricKey }: ObservationRecord): string {
  return pairKey(countryCode, metricKey);
}

function groupByPair(rows: readonly ObservationRecord[]): Map<string, ObservationRecord[]> {
  const byPair = new Map<string, ObservationRecord[]>();
  for (const row of rows) {
    const key = rowKey(row);
    const group = byPair.get(key);
    if (group === undefined) byPair.set(key, [row]);
    else group.push(row);
  }
  return byPair;
}

function incomplete(received: number, total: number | null): Failure {
  return new Failure('UPSTREAM_INCOMPLETE', 'The service cut the result short and the rest cannot be had.', {
    route: observations.route,
    received,
    total,
  });
}

/** A lower limit that the service names when it refuses ours. */
function highestLimitIn(detail: string, asked: number): number | null {
  if (!/limit/i.test(detail)) return null;
  const figures = [...detail.matchAll(/\b\d+\b/g)].map(Number).filter((n) => n > 1 && n < asked);
  return figures.length === 0 ? null : Math.max(...figures);
}
