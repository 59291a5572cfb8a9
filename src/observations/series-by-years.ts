import type { ObservationRecord } from '../service/records/observations.ts';
import type { Sending } from '../service/sending.ts';
import type { RepairMeans, Task } from './called.ts';
import { isCutShort, isRouteAnswering, type Rows } from './data-calls.ts';
import { isWithin, nameOfYears, type Pair, pairKey, widened, type YearRange } from './planner/demand.ts';

const MAX_YEAR_CALLS = 200;

export interface Cut {
  readonly task: Task;
  readonly answer: Rows;
  readonly sending: Sending;
  readonly means: RepairMeans;
}

export type SentRows = readonly {
  readonly key: string;
  readonly year: number | null;
  readonly figure: ObservationRecord | null;
}[];

/** Null if rows break the specification, or weren't asked for. */
export function sentRows({ list, groups, stray }: Rows): SentRows | null {
  const { rows, blanks, received } = list;
  if (stray !== null || list.errors.length > 0 || rows.length + blanks.length !== received) return null;
  const keyIn = ({ countryCode, metricKey }: Pair) => pairKey(countryCode, groups.askedKeyOf(metricKey));
  const sent: SentRows[number][] = rows.map((row) => ({ key: keyIn(row), year: row.year, figure: row }));
  for (const blank of blanks)
    sent.splice(blank.index, 0, { key: keyIn(blank), year: blank.year, figure: null });
  return sent;
}

/** Null unless it counts more rows than came: otherwise it may count only sent rows. */
export function totalBeyond({ list: { received, meta } }: Rows): number | null {
  return meta.total !== null && meta.total > received ? meta.total : null;
}

interface Way {
  readonly named: (range: YearRange) => YearRange;
  readonly trustsOrder: boolean;
}

/**
 * Splits a series by years, the only way to split one, until its parts are whole. The service's total, if any, proves
 * the sum, also of parts that only look whole. Without one, a year asked for alone shows if the service leaves out
 * the ends of a range or counts by another year: then the years beside a range are named too.
 * @returns null if the rest can't be had: years are ignored, or one has more rows than the service sends
 */
export async function fetchByYears(cut: Cut): Promise<SentRows | null> {
  const total = totalBeyond(cut.answer);
  const ask = askingYears(cut);

  async function fetchRange(range: YearRange, way: Way): Promise<SentRows | null> {
    const reply = await ask(way.named(range));
    const rows = reply && within(range, reply.rows);
    if (rows === null || !reply?.isCut) return rows;
    return range.from !== null && range.from === range.to ? null : fetchParts(range, rows, way);
  }

  async function fetchParts(range: YearRange, came: SentRows, way: Way): Promise<SentRows | null> {
    const { parts, whole } = splitOf(range, came);
    const rows: SentRows[] = [];
    for (const part of parts) {
      const isAtHand = way.trustsOrder && part === whole;
      const partRows = isAtHand ? within(part, came) : await fetchRange(part, way);
      if (partRows === null) return null;
      rows.push(partRows);
    }
    return parts.length === 0 ? null : rows.flat();
  }

  const atHand = sentRows(cut.answer) ?? [];
  const [year] = atHand.map((row) => row.year);
  if (year == null || atHand.some((row) => row.year === null)) return null;
  const trusted = { named: asIs, trustsOrder: true };
  const counted = total === null ? null : await fetchParts(EVERY_YEAR, atHand, trusted);
  if (counted !== null && counted.length === total) return counted;
  const alone = { from: year, to: year };
  const comesAlone = within(alone, (await ask(alone))?.rows ?? []).length > 0;
  const named = comesAlone ? asIs : widened;
  const rows = await fetchParts(EVERY_YEAR, atHand, { named, trustsOrder: false });
  return total === null || rows?.length === total ? rows : null;
}

const asIs = (range: YearRange) => range;

const EVERY_YEAR: YearRange = { from: null, to: null };

function within(range: YearRange, rows: SentRows): SentRows {
  return rows.filter(({ year }) => year !== null && isWithin(range, year));
}

/**
 * Splits a cut range in two; no parts if nothing tells where. In ordered rows, the earlier part looks whole; others
 * are a sample. If all rows are of a year beside the range, the year at that end is asked for by itself.
 */
function splitOf(range: YearRange, came: SentRows) {
  const { from, to } = range;
  const years = came.map(({ year }) => year ?? 0);
  const sorted = years.toSorted((a, b) => a - b);
  const isRising = years.every((year, i) => year === sorted[i]);
  const isFalling = years.every((year, i) => year === sorted.at(-1 - i));
  const halfway = from === null || to === null ? null : Math.ceil((from + to) / 2);
  const sample = sorted[Math.floor(sorted.length / 2)] ?? halfway ?? from ?? to;
  if (sample === null) return { parts: [], whole: null };
  const [first = sample, last = sample] = [sorted[0], sorted.at(-1)];
  const best = isRising ? last : isFalling ? first + 1 : sample;
  // So that neither part is empty.
  const middle = Math.min(to ?? best + 1, best === from ? best + 1 : best);
  const [earlier, later] = [
    { from, to: middle - 1 },
    { from: middle, to },
  ];
  const whole = first === last ? null : isRising ? earlier : isFalling ? later : null;
  return { parts: [earlier, later], whole };
}

interface YearsReply {
  readonly rows: SentRows;
  readonly isCut: boolean;
}

/** Null once the service refuses years, or ignores them. */
function askingYears({ task, answer, sending, means: { calls, learned } }: Cut) {
  const { mode, rectangle, arrived } = task;
  const all = answer.years && widened(answer.years);
  const { limitParam, limit: highest } = learned.facts();
  const limit = limitParam === 'accepted' ? highest : undefined;
  const asked = new Map<string, YearsReply>();
  let isUseless = false;

  async function ask(named: YearRange): Promise<YearsReply | null> {
    const askPart = () => calls.askExactly({ mode, rectangle, limit, named, arrived }, sending);
    let part = await askPart();
    if (part.isRefused && part.doubt !== null) {
      // It may be a moment without the route: the same call again tells.
      if (!(await isRouteAnswering({ calls, learned }, sending))) return null;
      part = await askPart();
    }
    // The pair has figures, so a 404 means none in these years.
    if (part.isRefused) return part.failure === null ? { rows: [], isCut: false } : null;
    const rows = sentRows(part);
    const isHeeded = rows?.every(({ year }) => year !== null && isWithin(widened(named), year));
    return rows && isHeeded ? { rows, isCut: isCutShort(task, part) } : null;
  }

  return async ({ from, to }: YearRange) => {
    const named = { from: from ?? all?.from ?? null, to: to ?? all?.to ?? null };
    const name = nameOfYears(named);
    if (isUseless || asked.size >= MAX_YEAR_CALLS) return null;
    const reply = asked.get(name) ?? (await ask(named));
    if (reply !== null) asked.set(name, reply);
    isUseless = reply === null;
    return reply;
  };
}
