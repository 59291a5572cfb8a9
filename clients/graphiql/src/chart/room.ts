import { paper } from '../view.ts';

/** Least heights, in pixels, of a picture that can't be seen whole, in windows up to a height, as in the style sheet, and in taller ones. */
const LEAST = { window: 500, low: 150, tall: 260 };
/** Pixels between a picture and the lower edge of what is seen. */
const BELOW = 12;

/** Height of a picture of which nothing is out of view, as far as can be; all that it may have on paper. */
export function roomFor(frame: HTMLElement): number {
  if (paper.matches) return Number.POSITIVE_INFINITY;
  return Math.max(innerHeight <= LEAST.window ? LEAST.low : LEAST.tall, heightBelow(frame));
}

/** Height that is seen below the caption of a picture; the first one has what stands before it above it, too. */
function heightBelow(frame: HTMLElement): number {
  const pane = frame.closest('.pane');
  const figure = frame.closest('.picture');
  // On the smallest screens it is the page that scrolls.
  const scrolled = pane === null || getComputedStyle(pane).overflowY === 'visible' ? null : pane;
  const topOf = (one: Element | null) => one?.getBoundingClientRect().top ?? 0;
  const isFirst = figure === (pane ?? document).querySelector('.picture');
  const begin = scrolled === null ? -scrollY : topOf(scrolled) - scrolled.scrollTop;
  const above = topOf(frame) - (isFirst ? begin : topOf(figure));
  return Math.floor((scrolled?.clientHeight ?? innerHeight) - above - BELOW);
}
