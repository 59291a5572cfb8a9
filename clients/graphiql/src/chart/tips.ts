/**
 * Words about the figures of a drawing, for a pointer, a finger and the keyboard. GraphiQL has them, and the script of the pages
 * of public documents is made of this file. So it needs nothing of what draws.
 */
import { BAND, FADED } from './opacities.ts';

/** A figure in a drawing, in its pixels. */
export interface Spot {
  readonly x: number;
  readonly y: number;
  /** Name of its line; empty if it is of none. */
  readonly line: string;
  /** Words on the figure, line by line: the first says what it is of. */
  readonly words: string;
}

export interface Spots {
  readonly all: readonly Spot[];
  /** True if the row alone tells which figure is meant, as among bars. */
  readonly areRows: boolean;
}

/** How a line stands out among the others of a drawing. A script may set it, whatever the policy of its page is. */
const STYLE = `
.frame path[data-lit] { stroke-width: 3; stroke-opacity: 1; fill-opacity: ${BAND}; }
.frame circle[data-lit] { opacity: 1; }
.frame .others [data-lit] { stroke: currentColor; stroke-width: 2; }
.frame [data-dim] path[data-line]:not([data-lit]) { stroke-opacity: ${FADED.line}; fill-opacity: ${FADED.band}; }
.frame [data-dim] circle[data-line]:not([data-lit]) { opacity: ${FADED.line}; }
`;

/** Pixels from a figure within which it is meant. */
const REACH = 60;

const SVG = 'http://www.w3.org/2000/svg';

/**
 * Has a frame tell of the figures in the drawing that it has.
 * @param status where the words are for those who go from figure to figure by keyboard
 */
export function tipsOn(frame: HTMLElement, status: HTMLElement) {
  const tip = document.createElement('div');
  tip.className = 'tip';
  tip.hidden = true;
  const dot = document.createElementNS(SVG, 'circle');
  const look = { class: 'spot', r: 5, fill: 'none', stroke: 'currentColor', 'stroke-width': 2 };
  for (const [name, value] of Object.entries(look)) dot.setAttribute(name, String(value));
  let svg: SVGSVGElement | null = null;
  let { all, areRows }: Spots = { all: [], areRows: false };
  let shown = -1;
  /** The line that stands out while no figure is meant. */
  let pinned: string | null = null;
  styled();

  function show(index: number, isAnnounced = false): void {
    const spot = all[index];
    tip.hidden = spot === undefined;
    if (spot === undefined || svg === null) {
      shown = -1;
      status.textContent = '';
      dot.remove();
      if (svg !== null) emphasise(svg, pinned, true);
      return;
    }
    shown = index;
    tip.replaceChildren(...spot.words.split('\n').map(rowOf));
    dot.setAttribute('cx', String(spot.x));
    dot.setAttribute('cy', String(spot.y));
    svg.append(dot);
    emphasise(svg, spot.line);
    placeTip(tip, frame, svg, spot);
    status.textContent = isAnnounced ? spot.words.replaceAll('\n', ', ') : '';
  }

  function meant(event: PointerEvent): number {
    const spot = event.target instanceof Element ? event.target.getAttribute('data-spot') : null;
    if (spot !== null || svg === null) return Number(spot ?? -1);
    const { left, top, width } = svg.getBoundingClientRect();
    const scale = widthOf(svg) / width;
    const [x, y] = [(event.clientX - left) * scale, (event.clientY - top) * scale];
    let best = -1;
    let least = REACH;
    for (const [i, spot] of all.entries()) {
      const distance = areRows ? Math.abs(spot.y - y) : Math.hypot(spot.x - x, spot.y - y);
      if (distance < least) [best, least] = [i, distance];
    }
    return best;
  }

  frame.addEventListener('pointermove', (event) => {
    if (event.pointerType === 'mouse') show(meant(event));
  });
  frame.addEventListener('pointerdown', (event) => {
    if (event.pointerType !== 'mouse') show(meant(event));
  });
  frame.addEventListener('pointerleave', (event) => {
    if (event.pointerType === 'mouse') show(-1);
  });
  frame.addEventListener('blur', () => show(-1));
  frame.addEventListener('keydown', (event) => {
    const next = nextOf(all, shown, event.key);
    if (next === null) return;
    event.preventDefault();
    show(next, true);
  });
  return {
    /** Puts a drawing into the frame, in place of the one before. */
    take(drawn: SVGSVGElement, spots: Spots): void {
      show(-1);
      svg = drawn;
      ({ all, areRows } = spots);
      frame.replaceChildren(drawn, tip);
    },
    show,
    /** Has a line stand out, or none, as long as no figure is meant. */
    pin(line: string | null): void {
      pinned = line;
      show(-1);
    },
  };
}

let isStyled = false;

/** Gives the page the style of lines that stand out, once. */
function styled(): void {
  if (isStyled) return;
  isStyled = true;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  document.adoptedStyleSheets.push(sheet);
}

function rowOf(text: string, i: number): HTMLElement {
  return Object.assign(document.createElement(i === 0 ? 'strong' : 'span'), { textContent: text });
}

const widthOf = (svg: SVGSVGElement) => Number(svg.getAttribute('width'));

/** Pixels between a figure and the words about it. */
const AWAY = 12;

/** Puts the words above or below their figure, or else at its side, within the frame. */
function placeTip(tip: HTMLElement, frame: HTMLElement, svg: SVGSVGElement, { x, y }: Spot): void {
  const [on, around] = [svg.getBoundingClientRect(), frame.getBoundingClientRect()];
  const { offsetWidth: width, offsetHeight: height } = tip;
  const scale = on.width / widthOf(svg);
  const [left, top] = [on.left - around.left + x * scale, on.top - around.top + y * scale];
  const [above, below] = [top - height - AWAY, top + AWAY];
  const isAside = above < 0 && below + height > around.height;
  const right = left + AWAY;
  const aside = right + width > around.width ? left - AWAY - width : right;
  const within = (at: number, most: number) => `${Math.min(Math.max(0, most), Math.max(0, at))}px`;
  tip.style.left = within(isAside ? aside : left - width / 2, around.width - width);
  tip.style.top = isAside
    ? within(top - height / 2, around.height - height)
    : `${above < 0 ? below : above}px`;
}

/** Returns the number of the figure that a key leads to; -1 for none, null if the key leads nowhere. */
function nextOf(all: readonly Spot[], shown: number, key: string): number | null {
  if (key === 'Escape') return shown < 0 ? null : -1;
  if (key === 'Home') return 0;
  if (key === 'End') return all.length - 1;
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key];
  const spot = all[shown];
  if (step === undefined || all.length === 0) return null;
  if (spot === undefined) return step > 0 ? 0 : all.length - 1;
  const lines = [...new Set(all.map(({ line }) => line))];
  const isAcross = key === 'ArrowUp' || key === 'ArrowDown';
  if (!isAcross || lines.length === 1) return (shown + step + all.length) % all.length;
  // To the same time on the line before or after.
  const line = lines[(lines.indexOf(spot.line) + step + lines.length) % lines.length];
  const away = (i: number) => Math.abs((all[i] as Spot).x - spot.x);
  return all.reduce(
    (best, one, i) => (one.line === line && (best < 0 || away(i) < away(best)) ? i : best),
    -1,
  );
}

/**
 * Has a line stand out among the others of a drawing; none if there is no name.
 * @param isAlone true if the others step back
 */
export function emphasise(svg: SVGSVGElement, line: string | null, isAlone = false): void {
  svg.toggleAttribute('data-dim', isAlone && line !== null);
  for (const part of svg.querySelectorAll('[data-line]'))
    part.toggleAttribute('data-lit', part.getAttribute('data-line') === line);
}
