import { type Frequency, periodOf } from '../../../../src/shared/periods.ts';
import type { Point } from './picture.ts';
import { widthOf } from './text-width.ts';

/** What an axis of time needs to know of a point. */
type Moment = Pick<Point, 'at' | 'figure'>;

/** Moments in years that are written below an axis, in words that tell each from the others. */
interface TimeTicks {
  readonly domain: [number, number];
  readonly ticks: number[];
  readonly labelOf: (at: number) => string;
}

/** Kinds of figures from the longest down. Figures of a week, a day or a range of days are named by themselves. */
const KINDS: readonly Frequency[] = ['year', 'half', 'quarter', 'month', 'week', 'day', 'span'];

/** Parts of a year, and the numbers of them that ticks may stand apart within one. */
const PARTS: Readonly<Partial<Record<Frequency, { readonly parts: number; readonly steps: number[] }>>> = {
  half: { parts: 2, steps: [1] },
  quarter: { parts: 4, steps: [1, 2] },
  month: { parts: 12, steps: [1, 3, 6] },
};

const YEARS = [1, 2, 5, 10, 20, 25, 50];

/** Pixels between two labels, and those from one tick to the next that a label of a month has room in. */
const GAP = 8;
const TICK_ROOM = 62;

/** The shortest kind of the figures: a year, wherever they fall on whole years. */
function kindOf(points: readonly Moment[]): Frequency {
  if (points.every(({ at }) => Number.isInteger(at))) return 'year';
  const kinds = new Set(points.map(({ figure }) => (figure && periodOf(figure)?.frequency) ?? 'year'));
  return KINDS.findLast((one) => kinds.has(one)) ?? 'year';
}

/** Names a moment as figures of a kind do: `2024`, `2024 H2`, `2024 Q3`, `2024-07`. */
function nameOf(at: number, kind: Frequency): string {
  const year = Math.floor(at + 1e-6);
  const { parts } = PARTS[kind] ?? { parts: 0 };
  const part = Math.round((at - year) * parts);
  if (parts === 0) return String(Math.round(at));
  if (part === 0) return String(year);
  return kind === 'month'
    ? `${year}-${String(part + 1).padStart(2, '0')}`
    : `${year} ${kind.slice(0, 1).toUpperCase()}${part + 1}`;
}

/** Names of figures of days and weeks by their moments: `2024-W05` if all are weeks, otherwise their first days. */
function ownNames(points: readonly Moment[]): Map<number, string> {
  const read = points.map(({ at, figure }) => ({ at, period: figure && periodOf(figure) }));
  const areWeeks = read.every(({ period }) => period?.frequency === 'week');
  return new Map(read.map(({ at, period }) => [at, (areWeeks ? period?.key : period?.firstDay) ?? '']));
}

/** Of moments in their order, one of two or more: as many as stand so far apart, or the first and the last. */
function spread(moments: readonly number[], apart: number): number[] {
  for (let step = 1; step < moments.length - 1; step += 1) {
    const some = moments.filter((_, i) => i % step === 0);
    if (some.every((at, i) => i === 0 || at - (some[i - 1] as number) >= apart)) return some;
  }
  return moments.length > 1 ? [moments[0] as number, moments.at(-1) as number] : [...moments];
}

/** The moments of points in their order, and their names where the axis is of round moments, or of the figures' own. */
function momentsOf(points: readonly Moment[]) {
  const moments = [...new Set(points.map(({ at }) => at))].sort((a, b) => a - b);
  const [from = 0, to = from] = [moments[0], moments.at(-1)];
  const kind = kindOf(points);
  const isShort = KINDS.indexOf(kind) > KINDS.indexOf('month');
  const own = isShort && to - from <= 1 ? ownNames(points) : null;
  const named = isShort ? 'month' : kind;
  return { moments, from, to, own, named, labelOf: (at: number) => own?.get(at) ?? nameOf(at, named) };
}

/**
 * Ticks of an axis. Within a year, weeks and days are named where there are figures of them; all else has round
 * moments of its kind, no more than there is room for.
 * @param room pixels of the axis
 */
export function timeTicks(points: readonly Moment[], room: number): TimeTicks {
  const { moments, from, to, own, named, labelOf } = momentsOf(points);
  if (own !== null) {
    const apart = (Math.max(...[...own.values()].map(widthOf)) + GAP) * ((to - from) / room);
    return { domain: [from, to], ticks: spread(moments, apart), labelOf };
  }
  // Years alone are short: on a phone, too, there are two of them to read the line by.
  const most = Math.max(named === 'year' && room >= 120 ? 3 : 2, room / TICK_ROOM);
  const { parts, steps } = PARTS[named] ?? { parts: 1, steps: [] };
  const step =
    [...steps.map((some) => some / parts), ...YEARS].find((one) => (to - from) / one <= most - 1) ?? 100;
  const ticks: number[] = [];
  for (let i = Math.ceil(from / step - 1e-6); i * step <= to + 1e-6; i += 1) ticks.push(i * step);
  // One alone would not tell the scale: both ends do.
  return { domain: [from, to], ticks: ticks.length < 2 ? [...new Set([from, to])] : ticks, labelOf };
}

/**
 * Names of the first and the last moment; the last is without the year of the first where there is no room for both.
 * @param room pixels of both
 */
export function endNames(points: readonly Moment[], room: number): readonly [string, string] {
  const { from, to, labelOf } = momentsOf(points);
  if (to - from >= 1) return [String(Math.floor(from)), String(Math.floor(to))];
  const [first, last] = [labelOf(from), labelOf(to)];
  const isWide = widthOf(first) + widthOf(last) + GAP > room && last.length > 5;
  return [first, isWide && last.slice(0, 5) === first.slice(0, 5) ? last.slice(5) : last];
}
