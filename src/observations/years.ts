import type { SentRow } from './data-calls.ts';

/** An answer for a range of years. */
export interface YearsReply {
  readonly rows: readonly SentRow[];
  /** Whether the service cut it short. */
  readonly isCut: boolean;
}

/** Asks for the years from `start` to `end`, both included; null where the service takes no years. */
export type AskYears = (start: number | undefined, end: number | undefined) => Promise<YearsReply | null>;

type SentRows = readonly SentRow[];

/**
 * The whole of one series of which a cut answer is at hand, by ranges of years: the service knows no other way to
 * split a series, and this one only in practice.
 *
 * Where rows run up or down the years, only the last year of a cut answer can be hit: the others are kept, and the
 * next call goes on from there, so that every call but the last is full. Where they run in no order, or no count can
 * prove that they did, ranges are halved.
 *
 * @param total rows of the series as the service counts them, which prove the sum; null where it doesn't count, and that
 * no part was cut has to do
 * @returns all rows, in the order of the years, those without a figure included; null where the rest can't be had
 */
export async function fetchYears(
  cut: SentRows,
  total: number | null,
  ask: AskYears,
): Promise<readonly SentRow[] | null> {
  // Without a count nothing vouches for an order: what is missing may be of any year.
  if (total === null) return whole(await fetchHalves(cut, undefined, undefined, ask), null);
  const rows: SentRow[] = [];
  let list: YearsReply = { rows: cut, isCut: true };
  for (;;) {
    if (!list.isCut) {
      rows.push(...list.rows);
      return whole(rows, total);
    }
    const direction = directionOf(list.rows);
    if (direction === 0) {
      return list.rows === cut ? whole(await fetchHalves(list.rows, undefined, undefined, ask), total) : null;
    }
    const last = list.rows.at(-1)?.year ?? null;
    const kept = list.rows.filter((row) => row.year !== last);
    if (last === null || kept.length === 0) return null;
    rows.push(...kept);
    const next =
      direction > 0 ? await askWithin(last, undefined, ask) : await askWithin(undefined, last, ask);
    if (next === null) return null;
    list = next;
  }
}

function whole(rows: SentRows | null, total: number | null): readonly SentRow[] | null {
  if (rows === null || (total !== null && rows.length !== total)) return null;
  return [...rows].sort((a, b) => (a.year ?? 0) - (b.year ?? 0));
}

/** 1 where rows run up the years, -1 where they run down, 0 where they do neither or don't tell. */
function directionOf(rows: SentRows): 1 | 0 | -1 {
  const years = rows.map(({ year }) => year ?? Number.NaN);
  const steps = years.slice(1).map((year, i) => year - (years[i] as number));
  if (steps.every((step) => step >= 0)) return 1;
  return steps.every((step) => step <= 0) ? -1 : 0;
}

/** A range of years; null where the service doesn't take ranges, or doesn't heed them. */
async function askWithin(
  start: number | undefined,
  end: number | undefined,
  ask: AskYears,
): Promise<YearsReply | null> {
  const reply = await ask(start, end);
  const isWithin = reply?.rows.every(
    ({ year }) => year !== null && year >= (start ?? year) && year <= (end ?? year),
  );
  return isWithin ? reply : null;
}

/**
 * A range that came cut and in no order: both halves of it, split where half of its rows have been. Nothing may count
 * them, so each is asked for with the year before and the year after: a service may leave out the last that is named.
 */
async function fetchHalves(
  rows: SentRows,
  start: number | undefined,
  end: number | undefined,
  ask: AskYears,
): Promise<SentRows | null> {
  const years = rows.map(({ year }) => year ?? Number.NaN).sort((a, b) => a - b);
  const middle = years[Math.floor(years.length / 2)] ?? 0;
  if (years.some(Number.isNaN) || middle <= (years[0] ?? middle)) return null;
  const fetchHalf = async (from: number | undefined, to: number | undefined) => {
    const reply = await askWithin(from && from - 1, to && to + 1, ask);
    if (reply === null) return null;
    const own = reply.rows.filter(
      ({ year }) =>
        (year ?? 0) >= (from ?? Number.NEGATIVE_INFINITY) && (year ?? 0) <= (to ?? Number.POSITIVE_INFINITY),
    );
    return reply.isCut ? fetchHalves(own, from, to, ask) : own;
  };
  const [lower, upper] = await Promise.all([fetchHalf(start, middle - 1), fetchHalf(middle, end)]);
  return lower === null || upper === null ? null : [...lower, ...upper];
}
