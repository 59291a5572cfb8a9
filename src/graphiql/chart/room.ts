import { paper } from '../view.ts';

/** Height, in pixels, of all that stands above a picture. */
const ABOVE = 400;
const LEAST_ROOM = 380;
/** Below this height of a window its pane shows a picture before all else, as in the style sheet: what stands above and below it, then. */
const LOW = { window: 500, above: 190, least: 150, below: 12 };

/** Height of a picture of which nothing is out of view; all that it may have on paper. */
export function roomFor(frame: HTMLElement): number {
  if (paper.matches) return Number.POSITIVE_INFINITY;
  if (innerHeight <= LOW.window) return Math.max(LOW.least, lowRoom(frame));
  return Math.max(LEAST_ROOM, innerHeight - ABOVE);
}

/** Height that the pane has below the caption of a picture; the first one has what stands before it above it, too. */
function lowRoom(frame: HTMLElement): number {
  const panel = frame.closest('.side-panel');
  const figure = frame.closest('.picture');
  // On the smallest screens it is the page that scrolls.
  if (panel === null || figure === null || getComputedStyle(panel).overflowY === 'visible')
    return innerHeight - LOW.above;
  const [from, begun, top] = [panel, figure, frame].map((one) => one.getBoundingClientRect().top) as [
    number,
    number,
    number,
  ];
  const isFirst = figure === panel.querySelector('.picture');
  const above = isFirst ? top - from + panel.scrollTop : top - begun;
  return Math.floor(panel.clientHeight - above - LOW.below);
}
