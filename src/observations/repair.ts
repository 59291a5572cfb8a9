import { observations } from '../service/endpoints.ts';
import type { ObservationRecord } from '../service/records/observations.ts';
import type { Sending } from '../service/sending.ts';
import { Failure } from '../shared/errors.ts';
import {
  cellsOf,
  type FetchedRows,
  learnLength,
  type PairOutcome,
  type Repair,
  type RepairMeans,
  type Rows,
  sentOf,
  settleAs,
  sum,
  type Task,
} from './data-calls.ts';
import {
  isWithin,
  keyOf,
  nameOfYears,
  type Pair,
  pairKey,
  pairsOf,
  type RowsOf,
  widened,
  type YearRange,
} from './planner/demand.ts';
import { type Learned, mayNameYears } from './planner/learned.ts';
import { inWhole } from './planner/modes.ts';
import { putInOrder } from './planner/newest.ts';

interface SentRow {
  readonly key: string;
  readonly year: number | null;
  readonly figure: ObservationRecord | null;
}

interface YearsReply {
  readonly rows: readonly SentRow[];
  /** Number of rows there are, if the service counts more than it sent; else null. */
  readonly total: number | null;
  /** True if the service cut it short. */
  readonly isCut: boolean;
}

/** Asks for years; null if the service takes none. A side that is null is as open as that of the answer at hand. */
type AskYears = (from: number | null, to: number | null) => Promise<YearsReply | null>;

type SentRows = readonly SentRow[];

/** An answer for a range, without the rows of other years. */
interface RangeReply extends YearsReply {
  /** Set if years beside the range were named too. */
  readonly isPadded: boolean;
  /** Set if the total may count rows of years beside the range. */
  readonly isWider: boolean;
}

/** Share of an answer's rows to plan pieces of: the rows that came are a sample, so that some pieces have more. */
const FILL = 0.8;

const EVERY_YEAR: YearRange = { from: null, to: null };

type Side = keyof YearRange;

const SIDES: readonly Side[] = ['to', 'from'];

/**
 * Gets the whole of one series of which a cut answer is at hand, by ranges of years: the service knows no other way to
 * split a series, and this one only in practice.
 *
 * A range that is cut is split by the years of the rows that came. A piece that is cut as well is split again. If rows
 * run up or down the years, all but the last year of a cut answer are taken to be whole, and the next call goes on from
 * there. If a count doesn't bear that out, the range is split instead, in any order of its rows.
 *
 * A service may leave out the first or the last year that is named, or go by a year beside that of the figure. A year
 * of which rows have come before is named as it is, and has to come again. For any other year, the year beside it is
 * named too.
 *
 * @param cut the answer; its total proves the sum. If the service doesn't count, it has to do that no part was cut
 * @returns all rows in the order of the years, with those that have no figure; null if the rest can't be had: the
 * service heeds no years, or has more rows of a single year than it sends
 */
async function fetchYears(cut: YearsReply, ask: AskYears): Promise<SentRows | null> {
  if (cut.rows.some(({ year }) => year === null)) return null;
  const search = new YearSearch(cut, ask);
  const rows = await search.all();
  if (rows === null || (cut.total !== null && rows.length !== cut.total)) return null;
  return rows.toSorted((a, b) => yearOf(a) - yearOf(b));
}

class YearSearch {
  readonly #cut: YearsReply;
  readonly #ask: AskYears;
  readonly #asked = new Map<string, Promise<YearsReply | null>>();
  /** Number of rows of each year, the most that one answer brought. */
  readonly #seen = new Map<number, number>();
  /** Rows of ranges that came whole, and those at hand: their ratio tells the length of other ranges. */
  readonly #whole = { rows: 0, atHand: 0 };
  /** Set once the service has left out the first or the last year that is named. */
  readonly #leavesOut = { from: false, to: false };
  /** Set once all rows that came before of such a year have come again. */
  readonly #includes = { from: false, to: false };
  /** Set once the service has brought the year before the first one named: the total tells if rows lack. */
  #isYearAfter = false;
  /** Unset once cut answers turn out to lack rows of other years than their last. */
  #mayBeInOrder = true;
  /** Set once an answer for a range has shown that the service takes years. */
  #isHeeded = false;

  constructor(cut: YearsReply, ask: AskYears) {
    this.#cut = cut;
    this.#ask = ask;
    this.#note(cut.rows);
  }

  async all(): Promise<SentRows | null> {
    const { total } = this.#cut;
    const reply = { ...this.#cut, isPadded: false, isWider: false };
    const rows = await this.#complete(EVERY_YEAR, reply);
    const isWhole = total === null || rows?.length === total;
    const isWide = this.#leavesOut.from && this.#leavesOut.to;
    if (isWhole || isWide || (rows === null && !this.#isYearAfter)) return rows;
    // Rows are missing that no other answer brought: those of years at the ends of ranges.
    Object.assign(this.#leavesOut, { from: true, to: true });
    this.#mayBeInOrder = false;
    return this.#complete(EVERY_YEAR, reply);
  }

  /** @param isNarrow as in {@link #padOf} */
  async #fetch(range: YearRange, isNarrow = false): Promise<SentRows | null> {
    const reply = await this.#askFor(range, isNarrow);
    return reply && this.#complete(range, reply);
  }

  #askOnce(named: YearRange): Promise<YearsReply | null> {
    const name = nameOfYears(named);
    const asking = this.#asked.get(name) ?? this.#ask(named.from, named.to);
    this.#asked.set(name, asking);
    return asking;
  }

  /** Asks for a range, and again by other ends while rows of the ends are lacking that came before. */
  async #askFor(range: YearRange, isNarrow: boolean): Promise<RangeReply | null> {
    for (;;) {
      const pads = { from: this.#padOf('from', range, isNarrow), to: this.#padOf('to', range, isNarrow) };
      const named = {
        from: range.from === null ? null : range.from - pads.from,
        to: range.to === null ? null : range.to + pads.to,
      };
      const reply = await this.#askOnce(named);
      if (reply === null || !isHeeded(reply, named)) return null;
      this.#isHeeded = true;
      const rows = reply.rows.filter((row) => isWithin(range, yearOf(row)));
      const lacking = reply.isCut ? this.#lackingFirst(range, rows) : this.#lacking(range, rows);
      if (!reply.isCut) {
        this.#noteEnds(range, pads, lacking);
        this.#whole.rows += rows.length;
        this.#whole.atHand += this.#atHand(range);
      }
      this.#note(reply.rows);
      if (lacking.size === 0) {
        const brings = (year: number) => reply.rows.some((row) => row.year === year);
        if (this.#cut.total !== null && named.from !== null && brings(named.from - 1))
          this.#isYearAfter = true;
        const isLeftOut = SIDES.every((side) => pads[side] <= 0 || this.#leavesOut[side]);
        const isWider = !isLeftOut || rows.length < reply.rows.length;
        return { ...reply, rows, isWider, isPadded: pads.from + pads.to > 0 };
      }
      const sides = SIDES.filter((side) => lacking.has(side) && pads[side] === 0);
      // Rows that came before are gone, and not for the year that stands at an end.
      if (lacking.has(null) || sides.length === 0) return null;
      // Of a single year either end may be to blame, and more often it is the last.
      for (const side of range.from === range.to ? sides.slice(0, 1) : sides) this.#leavesOut[side] = true;
    }
  }

  /**
   * Number of years to name beyond an end: none if rows of that year have come, so that it shows if the year is left
   * out.
   * @param isNarrow true if only those years are to be named that it takes by present knowledge, or by a proof from the
   * total
   */
  #padOf(side: Side, range: YearRange, isNarrow: boolean): -1 | 0 | 1 {
    const year = range[side];
    if (year === null) return 0;
    if (this.#leavesOut[side]) return 1;
    if (side === 'from' && this.#isYearAfter) return -1;
    const isTold = isNarrow && (this.#includes[side] || this.#cut.total !== null);
    return this.#seen.has(year) || isTold ? 0 : 1;
  }

  /** Ends of a range that lack some rows that came before; null stands for the years between. */
  #lacking(range: YearRange, rows: SentRows): Set<Side | null> {
    const counts = countsOf(rows);
    const lacking = new Set<Side | null>();
    for (const [year, count] of this.#seen) {
      if (!isWithin(range, year) || (counts.get(year) ?? 0) >= count) continue;
      if (year === range.from) lacking.add('from');
      if (year === range.to) lacking.add('to');
      if (year !== range.from && year !== range.to) lacking.add(null);
    }
    return lacking;
  }

  /** Does the same for a cut answer: rows that run up or down the years begin with those of an end. */
  #lackingFirst(range: YearRange, rows: SentRows): Set<Side | null> {
    const direction = this.#mayBeInOrder ? directionOf(rows.map(yearOf)) : 0;
    const side = direction > 0 ? 'from' : 'to';
    const year = range[side];
    const [first] = rows;
    const isLacking = direction !== 0 && first !== undefined && year !== null && this.#seen.has(year);
    return new Set(isLacking && yearOf(first) !== year ? [side] : []);
  }

  #noteEnds(range: YearRange, pads: Record<Side, number>, lacking: ReadonlySet<Side | null>): void {
    for (const side of SIDES) {
      const year = range[side];
      if (year === null || pads[side] > 0 || !this.#seen.has(year) || lacking.has(side)) continue;
      this.#includes[side] = true;
    }
  }

  #note(rows: SentRows): void {
    for (const [year, count] of countsOf(rows)) {
      this.#seen.set(year, Math.max(count, this.#seen.get(year) ?? 0));
    }
  }

  /** Gets all rows of a range of which a first answer is at hand. */
  async #complete(range: YearRange, reply: RangeReply): Promise<SentRows | null> {
    if (!reply.isCut) return reply.rows;
    const isOneYear = range.from !== null && range.from === range.to;
    if (isOneYear || reply.rows.length === 0) {
      // The years beside it may fill the answer.
      const isNarrower = this.#padOf('from', range, true) + this.#padOf('to', range, true) === 0;
      if (reply.isPadded && isNarrower) return this.#fetch(range, true);
      if (isOneYear) return null;
    }
    const came = reply.rows.length > 0 ? reply.rows.map(yearOf) : [...this.#seen.keys()];
    const years = came.filter((year) => isWithin(range, year));
    const [first, second] = new Set(years);
    if (first === undefined) return null;
    if (second === undefined) return this.#aroundYear(range, first, reply);
    const direction = this.#mayBeInOrder && reply.rows.length > 0 ? directionOf(years) : 0;
    return direction === 0 ? this.#inPieces(range, years, reply) : this.#inOrder(range, direction, reply);
  }

  /** Goes on from the last year that came. */
  async #inOrder(range: YearRange, direction: 1 | -1, reply: RangeReply): Promise<SentRows | null> {
    const { rows, total, isWider } = reply;
    const last = yearOf(rows.at(-1) as SentRow);
    const kept = rows.filter((row) => yearOf(row) !== last);
    const rest = direction > 0 ? { ...range, from: last } : { ...range, to: last };
    const before = direction > 0 ? { ...range, to: last - 1 } : { ...range, from: last + 1 };
    if (total === null || isWider) {
      // Nothing vouches for an order: the missing rows may be of any year. The part ends with a year that came, since beside
      // another end a further year is named: where that is the last, the same answer would come again.
      const end = yearOf(kept.at(-1) as SentRow);
      const earlier = await this.#fetch(direction > 0 ? { ...range, to: end } : { ...range, from: end });
      if (earlier !== null && earlier.length > kept.length) this.#mayBeInOrder = false;
      const others = direction > 0 ? { ...range, from: end + 1 } : { ...range, to: end - 1 };
      return joined([earlier, earlier && (await this.#fetch(others))]);
    }
    const further = await this.#fetch(rest);
    if (further === null || kept.length + further.length === total) return joined([kept, further]);
    this.#mayBeInOrder = false;
    return joined([further, await this.#fetch(before)]);
  }

  /** Gets a range of which rows of one year alone came. */
  async #aroundYear(range: YearRange, year: number, reply: RangeReply): Promise<SentRows | null> {
    const own = await this.#fetch({ from: year, to: year });
    const isAll = !reply.isWider && own?.length === reply.total;
    if (own === null || isAll) return own;
    const sides = [
      { from: range.from, to: year - 1 },
      { from: year + 1, to: range.to },
    ];
    const others = sides.filter(({ from, to }) => from === null || to === null || from <= to);
    return joined([own, await this.#fetchEach(others)]);
  }

  /** Splits a range into as many pieces as the total tells, or ranges that came whole; else into two. */
  async #inPieces(
    range: YearRange,
    years: readonly number[],
    { total }: RangeReply,
  ): Promise<SentRows | null> {
    const expected = total ?? this.#expectedIn(range);
    const pieces = piecesOf(range, years, Math.ceil((expected ?? 0) / (this.#cut.rows.length * FILL)));
    if (expected !== null) return this.#fetchEach(pieces);
    const [first, second] = pieces;
    const own = first === undefined ? null : await this.#fetch(first);
    return own === null || second === undefined
      ? own
      : joined([own, await this.#fetchPlanned(second, years)]);
  }

  /** Fetches a range that no call has been made for by itself; in pieces at once if it is expected to be cut. */
  #fetchPlanned(range: YearRange, cameYears: readonly number[]): Promise<SentRows | null> {
    const years = cameYears.filter((year) => isWithin(range, year));
    const expected = this.#expectedIn(range);
    const isLong = expected !== null && expected > this.#cut.rows.length;
    return isLong && new Set(years).size > 1
      ? this.#inPieces(range, years, { rows: [], total: null, isCut: true, isPadded: false, isWider: false })
      : this.#fetch(range);
  }

  /** Rows expected in a range, by those of ranges that came whole; null if none has. */
  #expectedIn(range: YearRange): number | null {
    const { rows, atHand } = this.#whole;
    return atHand === 0 ? null : (this.#atHand(range) * rows) / atHand;
  }

  #atHand(range: YearRange): number {
    return this.#cut.rows.reduce((sum, row) => sum + Number(isWithin(range, yearOf(row))), 0);
  }

  /** Fetches ranges at once. While it is unknown if the service heeds years, the first goes ahead. */
  async #fetchEach(ranges: readonly YearRange[]): Promise<SentRows | null> {
    const ahead: (SentRows | null)[] = [];
    if (!this.#isHeeded) for (const range of ranges.slice(0, 1)) ahead.push(await this.#fetch(range));
    if (ahead.includes(null)) return null;
    return joined([
      ...ahead,
      ...(await Promise.all(ranges.slice(ahead.length).map((range) => this.#fetch(range)))),
    ]);
  }
}

/** Pieces of a range with as many rows each, the one that may be the longest first: without it, nothing will do. */
function piecesOf(range: YearRange, years: readonly number[], wanted: number): YearRange[] {
  const sorted = years.toSorted((a, b) => a - b);
  const count = Math.min(Math.max(2, wanted), sorted.length);
  const starts = new Set<number>();
  for (let piece = 1; piece < count; piece += 1) {
    starts.add(sorted[Math.floor((piece * sorted.length) / count)] as number);
  }
  starts.delete(sorted[0] as number);
  if (starts.size === 0) starts.add(sorted.find((year) => year !== sorted[0]) as number);
  const firsts = [range.from, ...starts];
  const pieces = firsts.map((from, i) => ({
    from,
    to: i + 1 < firsts.length ? (firsts[i + 1] ?? 0) - 1 : range.to,
  }));
  const rowsIn = (piece: YearRange) => years.filter((year) => isWithin(piece, year)).length;
  return pieces.toSorted((a, b) => rowsIn(b) - rowsIn(a));
}

function joined(parts: readonly (SentRows | null)[]): SentRows | null {
  return parts.includes(null) ? null : parts.flatMap((part) => part ?? []);
}

function countsOf(rows: SentRows): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const row of rows) counts.set(yearOf(row), (counts.get(yearOf(row)) ?? 0) + 1);
  return counts;
}

/** Tells if all rows are of the years that were named, or of years beside them. */
function isHeeded({ rows }: YearsReply, named: YearRange): boolean {
  return rows.every(({ year }) => year !== null && isWithin(widened(named), year));
}

/** 1 if years run up, -1 if they run down, 0 if they do neither. */
function directionOf(years: readonly number[]): 1 | 0 | -1 {
  if (years.every((year, i) => i === 0 || year >= (years[i - 1] as number))) return 1;
  return years.every((year, i) => i === 0 || year <= (years[i - 1] as number)) ? -1 : 0;
}

function yearOf({ year }: SentRow): number {
  return year ?? Number.NaN;
}

function incomplete(received: number, total: number | null): Failure {
  return new Failure('UPSTREAM_INCOMPLETE', 'The service cut the result short and the rest cannot be had.', {
    route: observations.route,
    received,
    total,
  });
}

/** Rounds in which a cut answer is asked for again for no fewer pairs, as by another limit, before it is given up. */
const MAX_ROUNDS = 8;

type Runs = ReadonlyMap<string, SentRows>;

/** A cut answer, the task that it answers, and the party on whose behalf the rest is asked for. */
interface CutAnswer {
  readonly task: Task;
  readonly answer: Rows;
  readonly sending: Sending;
}

/** Gets the rest of a cut answer, with whole series if years can't be had whole: the total may be of all years. */
export const completed: Repair['cut'] = async (task, answer, sending, parts) => {
  const cut: CutAnswer = { task, answer, sending };
  if (answer.years === null) return complete(cut, parts);
  const inWholeAgain = () =>
    task.replan(task.pairs, { ...inWhole(task.pairs, parts), round: 0, partOf: undefined });
  // Nothing tells how much longer whole series are than their years.
  if (!mayNameYears(parts.learned.facts()) && totalBeyond(answer) === null) return inWholeAgain();
  try {
    return await complete(cut, parts);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'UPSTREAM_INCOMPLETE') throw error;
    parts.learned.learn({ yearsParam: 'ignored' });
    return inWholeAgain();
  }
};

/**
 * Keeps pairs that look whole, and asks for the others again, planned by the rows that the total leaves. Once
 * everything came, the total proves the kept ones.
 * @throws Failure UPSTREAM_INCOMPLETE if the rest can't be had
 */
async function complete(cut: CutAnswer, parts: RepairMeans): Promise<FetchedRows> {
  const { task, answer } = cut;
  const { mode, rectangle, pairs, rowsOf } = task;
  const total = totalBeyond(answer);
  const mayComeByLimit = learnCut(answer, parts.learned);
  if (!mayComeByLimit && rectangle.countryCodes.length === 1 && rectangle.metricKeys.length === 1) {
    return completePair(cut, parts);
  }
  const cells = cellsOf(rectangle);
  const round = cells < (task.partOf ?? 0) ? 0 : task.round;
  if (round >= MAX_ROUNDS) throw incomplete(answer.list.received, answer.list.meta.total);

  const whole = wholeRunsOf(task, answer);
  const kept = keptOf(task, whole);
  const again = kept.size > 0 ? pairsOf(rectangle).filter((pair) => !kept.has(keyOf(pair))) : pairs;
  // An answer with other years than the call named is one of whole series, and so is the rest.
  const years = mayNameYears(parts.learned.facts()) ? answer.years : null;
  // A part as long as a limit, and as the service counts, as the whole was: it counts the rows that it sends.
  if (total === null && task.partOf !== undefined) parts.learned.learn({ totals: 'untold' });
  const replanned = {
    years,
    rowsOf: total === null || mode === 'series' ? scaled(task, answer, whole, parts.learned) : rowsOf,
    round: round + 1,
    partOf: cells,
  };
  const rest = await task.replan(again, replanned);
  if (kept.size === 0) return rest;

  const rows = rest.rows + rowsIn(kept);
  // If the service turned out to take no years, the rest was counted otherwise.
  const isCountedAlike = years === null || mayNameYears(parts.learned.facts());
  if (rest.isWhole && rows === total && isCountedAlike) {
    settleKept(cut, kept, parts);
    return { rows, isWhole: true };
  }
  const keptPairs = pairs.filter((pair) => kept.has(keyOf(pair)));
  return sum([rest, await task.replan(keptPairs, replanned)]);
}

/**
 * Learns from a cut answer at how many rows the service cuts.
 * @returns true if a higher limit may bring more
 */
function learnCut(answer: Rows, learned: Learned): boolean {
  const { list, limit } = answer;
  const { received, meta } = list;
  const total = totalBeyond(answer);
  if (limit === undefined && total !== null) {
    learned.learn({ defaultRows: Math.min(learned.facts().defaultRows, received) });
  }
  const mayAskForMore = limit === undefined && learned.facts().limitParam !== 'refused';
  const isLimitTold = total !== null || meta.limit !== null || learned.facts().limitEffect === 'ignored';
  if (!mayAskForMore && isLimitTold) {
    learned.learn({ maxRows: Math.min(learned.facts().maxRows, meta.limit ?? received) });
  }
  return mayAskForMore;
}

/** The runs that the total can prove: all of them, or none. */
function keptOf({ rectangle, pairs }: Task, whole: Runs): Runs {
  const isWanted = new Set(pairs.map(keyOf));
  const left = pairsOf(rectangle).filter((pair) => !whole.has(keyOf(pair)));
  return left.every((pair) => isWanted.has(keyOf(pair))) ? whole : new Map();
}

/**
 * Rows to plan the rest by: for pairs that look whole, the rows that came; for the others, their share of the rest of
 * the total, and at least the rows that came of each. Without a total, those that came tell how long the others may be.
 * An answer that is as long as a limit, and as the service counts, is taken to be whole but for a row, unless its total
 * has proved to be one of sent rows.
 */
function scaled({ mode, rectangle }: Task, answer: Rows, whole: Runs, learned: Learned): RowsOf {
  const total = totalBeyond(answer);
  const { years } = answer;
  const pairs = pairsOf(rectangle);
  // A pair has at least the rows that came of it. So the pairs that are left share no call with it again that can't
  // hold both.
  const cameOf: RowsOf = (c, m) => sentOf(answer.groups, pairKey(c, m));
  const came = pairs.map(({ countryCode, metricKey }) => cameOf(countryCode, metricKey)).filter((n) => n > 0);
  if (mode === 'series' && years === null) {
    for (const { countryCode, metricKey } of pairs) {
      const least = cameOf(countryCode, metricKey);
      if (least > learned.seriesRows(countryCode, metricKey))
        learned.learnSeries(countryCode, metricKey, least);
    }
  }
  // At least one row each: the total shows that some of these are longer than was thought.
  const known = years === null ? learned.seriesRows : learned.rowsWithin(widened(years));
  const usual = came.reduce((rows, n) => rows + n, 0) / Math.max(1, came.length);
  const isUncounted = answer.list.meta.total === null || learned.facts().totals === 'untold';
  const guess: RowsOf = (c, m) => {
    if (!isUncounted) return mode === 'latest' ? 1 : Math.max(1, known(c, m));
    return Math.max(1, cameOf(c, m), mode === 'latest' ? usual : Math.min(usual, known(c, m)));
  };
  const expected = pairs
    .filter((pair) => !whole.has(keyOf(pair)))
    .reduce((rows, { countryCode, metricKey }) => rows + guess(countryCode, metricKey), 0);
  const { maxRows } = learned.facts();
  const unknown = isUncounted
    ? Math.max(mode === 'latest' ? maxRows + 1 : maxRows * 2, expected)
    : maxRows + 1;
  const rowsLeft = total === null ? unknown : total - rowsIn(whole);
  return (c, m) =>
    whole.has(pairKey(c, m))
      ? cameOf(c, m)
      : Math.max(cameOf(c, m), Math.ceil((guess(c, m) * rowsLeft) / Math.max(1, expected)));
}

/** Settles the pairs whose runs the total has proved. */
function settleKept({ task, answer, sending }: CutAnswer, kept: Runs, { learned, keep }: RepairMeans): void {
  const { mode, rectangle, pairs, settle } = task;
  const isBlank = (run: SentRows) => mode === 'latest' && figuresIn(run).length === 0;
  const whole = pairsOf(rectangle).flatMap((pair) => {
    const run = kept.get(keyOf(pair));
    return run === undefined || isBlank(run) ? [] : { pair, rows: figuresIn(run) };
  });
  const { years } = answer;
  keep(sending.caller.tenant, { mode, years }, whole, answer.receivedAt);
  const settled = pairs.filter((pair) => kept.has(keyOf(pair)));
  const outcomes = settled.map((pair): PairOutcome => {
    const run = kept.get(keyOf(pair)) ?? [];
    const rows = figuresIn(run);
    if (mode === 'series') learnLength(pair, years, rows, run.length, learned);
    return isBlank(run) ? 'no figure' : rows;
  });
  settle(settled, outcomes);
}

/** Gets the rest of a single series, which only a range of years can split. */
async function completePair(cut: CutAnswer, parts: RepairMeans): Promise<FetchedRows> {
  const { task, answer, sending } = cut;
  const { mode, rectangle, pairs } = task;
  const { learned, keep } = parts;
  const { received, meta } = answer.list;
  const sent = sentRows(answer);
  if (mode === 'latest' || sent === null) throw incomplete(received, meta.total);
  const total = totalBeyond(answer);
  const whole =
    (await fetchYears({ rows: sent, total, isCut: true }, askingYears(cut, parts))) ??
    (await askForTotal(cut, total, parts));
  if (whole === null) throw incomplete(received, meta.total);
  const rows = figuresIn(whole);
  const figures = pairsOf(rectangle).map((pair) => ({ pair, rows }));
  const { years } = answer;
  keep(sending.caller.tenant, { mode, years }, figures, answer.receivedAt);
  for (const pair of pairs) learnLength(pair, years, rows, whole.length, learned);
  settleAs(task, pairs, rows);
  return { rows: whole.length, isWhole: true };
}

function askingYears({ task, answer, sending }: CutAnswer, { calls, learned }: RepairMeans): AskYears {
  const { mode, rectangle } = task;
  const all = namedBy(answer);
  const limit = learned.facts().limitParam === 'accepted' ? learned.facts().maxRows : undefined;
  return async (from, to) => {
    const named = { from: from ?? all?.from ?? null, to: to ?? all?.to ?? null };
    const part = await calls.ask({ mode, rectangle, limit, named }, sending);
    // There are figures of the pair: a 404 can only mean that there are none of these years.
    if (part.isRefused) return part.outcome instanceof Error ? null : NO_ROWS;
    const rows = sentRows(part);
    return rows && { rows, total: totalBeyond(part), isCut: await calls.isCutShort(task, part, sending) };
  };
}

/** Asks for as many rows as there are: the limit that was refused may have been too high. */
async function askForTotal(
  { task, answer, sending }: CutAnswer,
  total: number | null,
  { calls, learned }: RepairMeans,
): Promise<SentRows | null> {
  const { limitParam, refusedLimit } = learned.facts();
  const isRefusing = limitParam === 'refused' || refusedLimit < Number.POSITIVE_INFINITY;
  if (total === null || !isRefusing || total >= refusedLimit) return null;
  const { mode, rectangle } = task;
  const all = await calls.ask({ mode, rectangle, limit: total, named: namedBy(answer) }, sending);
  if (all.isRefused) learned.learn({ refusedLimit: total });
  if (all.isRefused || all.list.received < total) return null;
  learned.learn({ maxRows: total });
  return sentRows(all);
}

/** All rows of an answer in order; null if some break the specification, or weren't asked for. */
function sentRows({ list, groups, stray }: Rows): SentRows | null {
  const { rows, blanks, faults } = list;
  if (stray !== null) return null;
  if (faults.length > 0 || rows.length + blanks.length !== list.received) return null;
  const keyIn = ({ countryCode, metricKey }: Pair) => pairKey(countryCode, groups.askedKeyOf(metricKey));
  const byPlace = new Map(blanks.map((blank) => [blank.index, blank]));
  let next = 0;
  return Array.from({ length: list.received }, (_, place): SentRow => {
    const row = byPlace.get(place) ?? (rows[next++] as ObservationRecord);
    return { key: keyIn(row), year: row.year, figure: 'value' in row ? row : null };
  });
}

const NO_ROWS: YearsReply = { rows: [], total: null, isCut: false };

/** The years that the call for an answer named. */
function namedBy({ years }: Rows): YearRange | null {
  return years && widened(years);
}

/** The total if it counts more rows than came; else null: it may count only sent rows, and tells nothing. */
function totalBeyond({ list: { received, meta } }: Rows): number | null {
  return meta.total !== null && meta.total > received ? meta.total : null;
}

function rowsIn(runs: Runs): number {
  return [...runs.values()].reduce((rows, run) => rows + run.length, 0);
}

function figuresIn(rows: SentRows): readonly ObservationRecord[] {
  return putInOrder(rows.flatMap(({ figure }) => figure ?? []));
}

/**
 * The runs of the pairs of a cut answer that look whole, if the service tells a total: rows come in one run a pair,
 * so that the cut can only have hit the last run. (If latest figures come one a pair, it has hit none.) None if a
 * pair comes in several runs. This is evidence, not proof: the caller holds it against the service's total.
 */
function wholeRunsOf({ mode }: Task, answer: Rows): Runs {
  const rows = totalBeyond(answer) === null ? [] : (sentRows(answer) ?? []);
  const runs = new Map<string, SentRow[]>();
  let last: string | undefined;
  for (const row of rows) {
    const { key } = row;
    const run = runs.get(key);
    if (run === undefined) runs.set(key, [row]);
    else if (key === last) run.push(row);
    else return new Map();
    last = key;
  }
  const isOneEach = mode === 'latest' && runs.size === rows.length;
  if (last !== undefined && !isOneEach) runs.delete(last);
  return runs;
}
