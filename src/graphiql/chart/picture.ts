import type { Figure } from './figures.ts';

/** One line: the figures of one country and indicator over time. */
export interface Line {
  readonly name: string;
  readonly points: readonly Point[];
}

export interface Point {
  readonly line: string;
  /** The year, with the part of it that a period says. */
  readonly at: number;
  /** Null where the row of a year is missing between two that are there: a gap, no zero. */
  readonly value: number | null;
  readonly isModelled: boolean;
  readonly low: number | null;
  readonly high: number | null;
  readonly figure: Figure | null;
}

/** What can be drawn of a response; one picture for each unit. */
export type Picture =
  | {
      readonly kind: 'lines';
      readonly unit: string;
      readonly lines: readonly Line[];
      readonly figures: readonly Figure[];
    }
  | {
      readonly kind: 'bars';
      readonly unit: string;
      readonly bars: readonly Figure[];
      readonly figures: readonly Figure[];
      readonly canBeMap: boolean;
    };

/** Countries from which on latest values of one indicator are better seen on a map. */
export const MAP_COUNTRIES = 10;

/** More bars than this are not drawn; the table has them all. */
export const MAX_BARS = 60;

/**
 * What is to be drawn: series as lines, latest values as bars or a map. Figures of different units never share an axis.
 */
export function picturesOf(figures: readonly Figure[]): Picture[] {
  const pictures: Picture[] = [];
  const byUnit = Map.groupBy(dedupe(figures), ({ unit, indicator }) => unit ?? indicator);
  for (const [unit, all] of byUnit) {
    const series = Map.groupBy(all, ({ country, indicator, place }) =>
      JSON.stringify([country, indicator, place]),
    );
    const over = [...series.values()].filter((rows) => new Set(rows.map(momentOf)).size > 1);
    if (over.length > 0) {
      const lines = over.map((rows) => lineOf(nameOf(rows[0] as Figure, over), rows));
      pictures.push({ kind: 'lines', unit, lines, figures: over.flat() });
    }
    const single = [...series.values()].filter((rows) => !over.includes(rows)).flat();
    for (const bars of Map.groupBy(single, ({ indicator }) => indicator).values()) {
      if (bars.length === 0) continue;
      const sorted = bars.toSorted((a, b) => b.value - a.value);
      const countries = new Set(bars.map(({ country }) => country));
      pictures.push({
        kind: 'bars',
        unit,
        bars: sorted,
        figures: sorted,
        canBeMap: countries.size >= MAP_COUNTRIES,
      });
    }
  }
  return pictures;
}

/** The same figure may stand in several places of a response. */
function dedupe(figures: readonly Figure[]): Figure[] {
  const key = ({ country, indicator, year, period, place }: Figure) =>
    JSON.stringify([country, indicator, year, period, place]);
  return [...new Map(figures.map((figure) => [key(figure), figure])).values()];
}

/** A name that tells a line from the others: what they have in common is left out. */
function nameOf(figure: Figure, all: readonly (readonly Figure[])[]): string {
  const differ = (of: (figure: Figure) => string | null) =>
    new Set(all.map(([first]) => (first ? of(first) : null))).size > 1;
  const parts = [
    differ(({ country }) => country) ? figure.countryName : null,
    differ(({ indicator }) => indicator) ? figure.indicatorName : null,
    figure.place,
  ].filter((part) => part !== null && part !== '');
  return parts.length > 0 ? parts.join(', ') : figure.countryName || figure.indicatorName;
}

function lineOf(name: string, rows: readonly Figure[]): Line {
  const sorted = rows.toSorted((a, b) => momentOf(a) - momentOf(b));
  const isAnnual = sorted.every((row) => Number.isInteger(momentOf(row)));
  const points: Point[] = [];
  for (const figure of sorted) {
    const at = momentOf(figure);
    const before = points.at(-1)?.at;
    // Without a point of its own a missing year would be bridged by a line.
    if (isAnnual && before !== undefined && at - before > 1) points.push(gapAt(name, before + 1));
    const { value, isModelled, low, high } = figure;
    points.push({ line: name, at, value, isModelled, low, high, figure });
  }
  return { name, points };
}

function gapAt(line: string, at: number): Point {
  return { line, at, value: null, isModelled: false, low: null, high: null, figure: null };
}

/** The moment of a figure in years: the year, or where in it a quarter, month or day lies. */
export function momentOf({ year, period }: Figure): number {
  const text = period ?? '';
  const quarter = /^(\d{4})-?Q([1-4])$/i.exec(text);
  if (quarter !== null) return Number(quarter[1]) + (Number(quarter[2]) - 1) / 4;
  const date = /^(\d{4})-(\d{2})(?:-(\d{2}))?$/.exec(text);
  // A fiscal year that ends on a day of another year is still its year.
  if (date !== null && (year === null || Number(date[1]) === year))
    return Number(date[1]) + (Number(date[2]) - 1) / 12 + (Number(date[3] ?? 1) - 1) / 366;
  return year ?? 0;
}
