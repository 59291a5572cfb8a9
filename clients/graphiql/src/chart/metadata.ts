import type { FigureMetadata } from '../../../../src/shared/drawings.ts';
import { sourceOf } from '../source-names.ts';
import type { Figure } from './figures.ts';

/** Tells what figures are: of what, of where and when, by whom, of which release, retrieved when. */
export function metadataOf(figures: readonly Figure[]): FigureMetadata {
  const years = figures.flatMap(({ year }) => year ?? []);
  const byIndicator = Map.groupBy(figures, ({ indicator }) => indicator);
  const bySource = Map.groupBy(
    figures.filter(({ source }) => source !== null),
    ({ source }) => source ?? '',
  );
  const names = new Map(figures.map(({ country, countryName }) => [country, countryName]));
  return {
    figures: figures.length,
    fromYear: years.length === 0 ? null : years.reduce((a, b) => Math.min(a, b)),
    toYear: years.length === 0 ? null : years.reduce((a, b) => Math.max(a, b)),
    indicators: Array.from(byIndicator, ([key, rows]) => ({
      key,
      name: rows[0]?.indicatorName ?? key,
      units: textsOf(rows, 'unit'),
    })),
    countries: Array.from(names, ([code, name]) => ({ code, name })),
    sources: Array.from(bySource, ([key, rows]) => sourceIn(key, rows)),
  };
}

function sourceIn(key: string, rows: readonly Figure[]): FigureMetadata['sources'][number] {
  const [first] = rows as readonly [Figure];
  const { name, url } = sourceOf(first) ?? { name: null, url: null };
  const { licence = null, refreshedAt = null } = first.origin ?? {};
  return {
    key,
    name,
    url,
    licence,
    releases: textsOf(rows, 'release'),
    // All of them were there at the last.
    retrievedAt: textsOf(rows, 'retrievedAt').at(-1) ?? null,
    refreshedAt,
  };
}

function textsOf(rows: readonly Figure[], name: 'unit' | 'release' | 'retrievedAt'): readonly string[] {
  return [...new Set(rows.flatMap((row) => row[name] ?? []))].sort();
}
