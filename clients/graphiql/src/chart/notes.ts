import { timeIn } from '../../../../src/shared/periods.ts';
import { nameAndPage } from '../../../../src/shared/source-names.ts';
import { attribution, sourceNameOf } from '../source-names.ts';
import { unitInWords } from './figure-words.ts';
import type { Figure } from './figures.ts';
import { timesInWords } from './latest.ts';
import { fullNumber, yearsOf } from './numbers.ts';
import { MAX_BANDS, type Picture } from './picture.ts';

/** Sources that are named below a table, which has them row by row. */
const MOST_SOURCES = 8;

export type Shown = 'lines' | 'small-pictures' | 'ranking' | 'map' | 'values';

/** The figures that a picture shows, of those that it has. */
export function figuresOf(picture: Picture, shown: Shown): readonly Figure[] {
  return shown === 'map' && picture.kind === 'bars' && picture.map !== null ? picture.map : picture.figures;
}

/** The figures of a picture that are each the latest of theirs; none if they are of a year that was chosen. */
function latestOf(picture: Picture, shown: Shown): readonly Figure[] {
  return picture.kind === 'bars' && picture.isLatest !== false ? figuresOf(picture, shown) : [];
}

/** Words below the title: the measure and the years. */
export function subtitleOf(picture: Picture, shown: Shown): string {
  const unit = picture.unit === picture.title ? '' : unitInWords(picture.unit);
  const times = timesInWords(latestOf(picture, shown))?.short ?? yearsOf(figuresOf(picture, shown));
  return [unit, times].filter((part) => part !== '').join(', ');
}

/**
 * Publishers of the figures by name or key, the years and the licence of each: `world_bank_wdi (1990–2024, CC BY 4.0)`. Empty
 * if none is named.
 */
function sourcesOf(figures: readonly Figure[]): string[] {
  const bySource = Map.groupBy(
    figures.filter(({ source }) => source !== null),
    ({ source }) => source as string,
  );
  return [...bySource.values()].map((rows) => {
    const [first] = rows as [Figure];
    const details = [yearsOf(rows), first.origin?.licence ?? ''].filter((part) => part !== '').join(', ');
    return details === '' ? sourceNameOf(first) : `${sourceNameOf(first)} (${details})`;
  });
}

/** Says how fresh figures are: the last refresh from their sources, if the answer tells it of all, or their retrieval. */
function freshnessOf(figures: readonly Figure[]): string {
  const refreshed = figures.map(({ origin }) => origin?.refreshedAt ?? null);
  const isRefresh = !refreshed.includes(null);
  const times = isRefresh ? refreshed : figures.map(({ retrievedAt }) => retrievedAt);
  const newest = times.reduce(
    (latest, time) => Math.max(latest, time === null ? 0 : (timeIn(time)?.firstMs ?? 0)),
    0,
  );
  if (newest <= 0) return '';
  const day = new Date(newest).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
  return ` ${isRefresh ? 'Last refreshed' : 'Retrieved'} on ${day}.`;
}

/** Notes on the origin of figures: that they are synthetic, if they are, who published them, and the service. */
export function originOf(figures: readonly Figure[], isSynthetic: boolean, isInTable = false): string[] {
  const sources = sourcesOf(figures);
  const published =
    sources.length === 0
      ? 'The answer names no source.'
      : isInTable && sources.length > MOST_SOURCES
        ? `${sources.length} sources, named in the table.`
        : `Source: ${sources.join(', ')}.${freshnessOf(figures)}`;
  return [...syntheticNote(isSynthetic), published, serviceNote()];
}

export const syntheticNote = (isSynthetic: boolean) =>
  isSynthetic ? ['Synthetic figures of the embedded sandbox: none of them is real.'] : [];

/** Names the service. */
export const serviceNote = () => `Data: ${nameAndPage(attribution())}.`;

/** Notes that have to stand below a picture, on the page and in files. */
export function notesOf(picture: Picture, shown: Shown, isSynthetic: boolean): string[] {
  const figures = figuresOf(picture, shown);
  const modelled = figures.filter(({ isModelled }) => isModelled).length;
  const drawnAs = {
    lines: ' (hollow, where points are drawn)',
    ranking: ' (pale)',
    map: '',
    values: '',
    'small-pictures': '',
  };
  const leftOut = picture.figures.length - figures.length;
  const places = picture.figures.filter((figure) => !figure.isNational).length;
  return [
    ...originOf(figures, isSynthetic, shown === 'values'),
    timesInWords(latestOf(picture, shown))?.note ?? '',
    picture.missing ? `No figures: ${picture.missing}.` : '',
    modelled > 0
      ? `${modelled === figures.length ? 'All' : `${fullNumber(modelled)} of ${fullNumber(figures.length)}`} figures are modelled${drawnAs[shown]}.`
      : '',
    shown === 'lines' && figures.some(({ low }) => low !== null) ? boundsIn(picture) : '',
    leftOut > 0
      ? places > 0
        ? `The map shows national figures; ${places} of places within countries are in the ranking and the table.`
        : `The map shows the newest figure of each country; ${leftOut} others are in the table.`
      : '',
    ...(picture.remarks ?? []),
    figures.some(({ isStale }) => isStale) ? 'Some figures are past their time.' : '',
  ].filter((note) => note !== '');
}

function boundsIn(picture: Picture): string {
  const areAll = picture.kind === 'lines' && picture.lines.length <= MAX_BANDS;
  return areAll
    ? "Bands are the provider's bounds."
    : "The provider's bounds are drawn as a band for a line that is highlighted.";
}
