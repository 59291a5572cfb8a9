import { paper } from '../view.ts';

/** Height, in pixels, of all that stands above a picture. */
const ABOVE = 400;
const LEAST_ROOM = 380;
/** Below this height of a window its pane shows a picture before all else, as in the style sheet: what stands above it, then. */
const LOW = { window: 500, above: 190, least: 170 };

/** Height of a picture of which nothing is out of view; all that it may have on paper. */
export function roomFor(): number {
  if (paper.matches) return Number.POSITIVE_INFINITY;
  if (innerHeight <= LOW.window) return Math.max(LOW.least, innerHeight - LOW.above);
  return Math.max(LEAST_ROOM, innerHeight - ABOVE);
}
