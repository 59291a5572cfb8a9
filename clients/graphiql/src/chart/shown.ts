import { measured, rankingOf } from './measured.ts';
import { figuresOf, type Shown } from './notes.ts';
import { counted } from './numbers.ts';
import { type BarsPicture, type LinesPicture, MAP_COUNTRIES, type Picture } from './picture.ts';
import type { Look } from './plain-look.ts';
import { scaled } from './scaled.ts';
import { storyOf } from './story.ts';

/** True if a picture has the figures of enough countries for a map. */
export function canMap(picture: Picture): boolean {
  if (picture.kind === 'values') return false;
  return (picture.kind === 'bars' ? picture : rankingOf(picture, null)).map !== null;
}

/** Decides the form of a picture: the wanted one, if that can be. */
export function shownAs(picture: Picture, { kind }: Look, canBeMap: boolean): Shown {
  if (kind === 'map' && canBeMap) return 'map';
  if (picture.kind === 'lines') return kind === 'ranking' || kind === 'small-pictures' ? kind : 'lines';
  if (picture.kind === 'values') return 'values';
  // The few that somebody has left of a map are compared as bars, unless a map was asked for.
  const areMany = (picture.map ?? []).length >= MAP_COUNTRIES;
  return canBeMap && areMany && kind !== 'ranking' ? 'map' : 'ranking';
}

/** True if a picture has a legend of its lines. */
export const hasLegend = (picture: Picture, shown: Shown): picture is LinesPicture =>
  picture.kind === 'lines' && shown !== 'small-pictures';

/** Returns a picture as it is shown: its measure, or the year of a ranking, and what its scale has a place for. */
export function drawnOf(picture: Picture, shown: Shown, look: Look): Picture {
  if (picture.kind === 'values') return picture;
  if (picture.kind === 'bars') return scaled(picture, false);
  if (shown === 'ranking' || shown === 'map') return scaled(rankingOf(picture, look.year), false);
  // Differences are below zero as often as above.
  const wantsLog = look.isLog && look.measure !== 'difference' && look.measure !== 'percent';
  return scaled(measured(picture, look), wantsLog);
}

/** Words a picture for people who don't see it: what it tells comes before its parts. */
export function inWords(picture: LinesPicture | BarsPicture, shown: Shown): string {
  const figures = figuresOf(picture, shown);
  const what = picture.kind === 'lines' ? counted(picture.lines.length, 'line') : shown;
  const parts = `${what}, ${counted(figures.length, 'figure')}`;
  return [
    `${picture.title}, ${picture.unit}.`,
    storyOf(picture, shown),
    `${parts[0]?.toUpperCase()}${parts.slice(1)}.`,
  ]
    .filter((part) => part !== '')
    .join(' ');
}
