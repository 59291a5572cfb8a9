import { nameOfSource } from '../source-names.ts';
import type { Figure } from './figures.ts';
import { fullNumber, yearsOf } from './numbers.ts';
import type { Picture } from './picture.ts';

/** Sources that are named below a table, which has them row by row. */
const MOST_SOURCES = 8;

export type Shown = 'lines' | 'multiples' | 'bars' | 'map' | 'values';

/** The figures that a picture shows, of those that it has. */
export function figuresOf(picture: Picture, shown: Shown): readonly Figure[] {
  return shown === 'map' && picture.kind === 'bars' && picture.map !== null ? picture.map : picture.figures;
}

/** Words below the title: the measure and the years. */
export function subtitleOf(picture: Picture, shown: Shown): string {
  const years = yearsOf(figuresOf(picture, shown));
  const isLatest = picture.kind === 'bars' && years.includes('–');
  const unit = picture.unit === picture.title ? '' : picture.unit;
  return [unit, isLatest ? `latest figures, ${years}` : years].filter((part) => part !== '').join(', ');
}

/**
 * Publishers of the figures by name or key, and the years of each: `world_bank_wdi (1990–2024)`. Empty if
 * none is named.
 */
export function sourcesOf(figures: readonly Figure[]): string[] {
  const bySource = Map.groupBy(
    figures.filter(({ source }) => source !== null),
    ({ source }) => source as string,
  );
  return [...bySource].map(([source, rows]) => {
    const years = yearsOf(rows);
    const name = nameOfSource(source);
    return years === '' ? name : `${name} (${years})`;
  });
}

/** Notes on the origin of figures: that they are synthetic, if they are, and who published them. */
export function originOf(sources: readonly string[], isSynthetic: boolean, isInTable = false): string[] {
  const published =
    sources.length === 0
      ? 'The answer names no source.'
      : isInTable && sources.length > MOST_SOURCES
        ? `${sources.length} sources, named in the table.`
        : `Source: ${sources.join(', ')}.`;
  return isSynthetic
    ? ['Synthetic figures of the embedded sandbox: none of them is real.', published]
    : [published];
}

/** Notes that have to stand below a picture, on the page and in files. */
export function notesOf(picture: Picture, shown: Shown, isSynthetic: boolean): string[] {
  const figures = figuresOf(picture, shown);
  const modelled = figures.filter(({ isModelled }) => isModelled).length;
  const drawnAs = {
    lines: ' (hollow, where points are drawn)',
    bars: ' (pale)',
    map: '',
    values: '',
    multiples: '',
  };
  const leftOut = picture.figures.length - figures.length;
  const places = picture.figures.filter((figure) => !figure.isNational).length;
  return [
    ...originOf(sourcesOf(figures), isSynthetic, shown === 'values'),
    modelled > 0
      ? `${modelled === figures.length ? 'All' : `${fullNumber(modelled)} of ${fullNumber(figures.length)}`} figures are modelled${drawnAs[shown]}.`
      : '',
    shown === 'lines' && figures.some(({ low }) => low !== null) ? "Bands are the provider's bounds." : '',
    leftOut > 0
      ? places > 0
        ? `The map shows national figures; ${places} of places within countries are in the bars and the table.`
        : `The map shows the newest figure of each country; ${leftOut} others are in the table.`
      : '',
    ...(picture.remarks ?? []),
    figures.some(({ isStale }) => isStale) ? 'Some figures are past their time.' : '',
  ].filter((note) => note !== '');
}
