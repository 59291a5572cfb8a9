import { drawBars } from './bars.ts';
import { drawLines } from './lines.ts';
import { drawMap } from './map.ts';
import type { Shown } from './notes.ts';
import type { Picture } from './picture.ts';
import type { Look, Plotted } from './plot.ts';
import { drawSmallPictures } from './small-pictures.ts';

/**
 * Draws a picture; null if it is a table.
 * @param chosen names of lines that have a colour before all others
 */
export function draw(picture: Picture, shown: Shown, chosen: readonly string[], look: Look): Plotted | null {
  if (picture.kind === 'lines')
    return shown === 'small-pictures' ? drawSmallPictures(picture, look) : drawLines(picture, chosen, look);
  if (picture.kind === 'values') return null;
  return shown === 'map' && picture.map !== null ? drawMap(picture, look) : drawBars(picture, look);
}
