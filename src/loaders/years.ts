import { isCut } from '../planner/completeness.ts';
import type { ObservationList, ObservationRecord } from '../upstream/records/observations.ts';

/** Asks for the years from `start` to `end`, both included; null where the service takes no years. */
type AskYears = (start: number | undefined, end: number | undefined) => Promise<ObservationList | null>;

type Rows = readonly ObservationRecord[];

/**
 * The whole of one series of which a cut answer is at hand, by ranges of years: the service knows no other way to
 * split a series, and this one only in practice. The total proves the sum.
 *
 * Where rows run up or down the years, only the last year of a cut answer can be hit: the others are kept, and the
 * next call goes on from there, so that every call but the last is full. Where they run in no order, ranges are
 * halved.
 *
 * @returns all rows, in the order of the years; null where the rest can't be had
 */
export async function fetchYears(
  cut: ObservationList,
  total: number,
  askedLimit: number | undefined,
  ask: AskYears,
): Promise<ObservationRecord[] | null> {
  const rows: ObservationRecord[] = [];
  for (let list = cut; ; ) {
    const last = list.rows.at(-1);
    if (last === undefined || list.faults.length > 0) return null;
    if (list !== cut && !isStillCut(list, askedLimit)) {
      rows.push(...list.rows);
      break;
    }
    const direction = directionOf(list.rows);
    if (direction === 0)
      return list === cut
        ? whole(await fetchHalves(list, undefined, undefined, askedLimit, ask), total)
        : null;
    const kept = list.rows.filter((row) => row.year !== last.year);
    if (kept.length === 0) return null;
    rows.push(...kept);
    const next =
      direction > 0 ? await askWithin(last.year, undefined, ask) : await askWithin(undefined, last.year, ask);
    if (next === null) return null;
    list = next;
  }
  return whole(rows, total);
}

function whole(rows: Rows | null, total: number): ObservationRecord[] | null {
  return rows?.length === total ? [...rows].sort((a, b) => a.year - b.year) : null;
}

/** 1 where rows run up the years, -1 where they run down, 0 where they do neither. */
function directionOf(rows: Rows): 1 | 0 | -1 {
  const steps = rows.slice(1).map((row, i) => row.year - (rows[i]?.year ?? row.year));
  if (steps.every((step) => step >= 0)) return 1;
  return steps.every((step) => step <= 0) ? -1 : 0;
}

function isStillCut({ received, meta }: ObservationList, askedLimit: number | undefined): boolean {
  return isCut({ ...meta, received, askedLimit, isEveryPairPresent: false, isTotalTrue: true });
}

/** A range of years; null where the service doesn't take ranges, or doesn't heed them. */
async function askWithin(start: number | undefined, end: number | undefined, ask: AskYears) {
  const list = await ask(start, end);
  const isWithin = list?.rows.every(({ year }) => year >= (start ?? year) && year <= (end ?? year));
  return isWithin ? list : null;
}

/** A range that came cut and in no order: both halves of it, split where half of its rows have been. */
async function fetchHalves(
  { rows, faults }: ObservationList,
  start: number | undefined,
  end: number | undefined,
  askedLimit: number | undefined,
  ask: AskYears,
): Promise<Rows | null> {
  const years = rows.map(({ year }) => year).sort((a, b) => a - b);
  const middle = years[Math.floor(years.length / 2)] ?? 0;
  if (faults.length > 0 || middle <= (years[0] ?? middle)) return null;
  const fetchHalf = async (from: number | undefined, to: number | undefined) => {
    const list = await askWithin(from, to, ask);
    if (list === null) return null;
    return isStillCut(list, askedLimit) ? fetchHalves(list, from, to, askedLimit, ask) : list.rows;
  };
  const [lower, upper] = await Promise.all([fetchHalf(start, middle - 1), fetchHalf(middle, end)]);
  return lower === null || upper === null ? null : [...lower, ...upper];
}
