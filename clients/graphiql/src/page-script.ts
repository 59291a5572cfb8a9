/**
 * The script of the pages of public documents (`src/plugins/public-pages`), which writes it into them: it tells of the figures of
 * the picture, and tells a page around its frame how high it is. `vite.page.ts` builds it; without it, the page says as much.
 */
import { type Spots, tipsOn } from './chart/tips.ts';

const frame = document.querySelector<HTMLElement>('.frame');
const image = frame?.querySelector('img');
if (frame != null && image != null) follow(frame, image);

if (parent !== window) {
  const tell = () => {
    const { height } = document.documentElement.getBoundingClientRect();
    parent.postMessage({ 'country-graph': { height } }, '*');
  };
  new ResizeObserver(tell).observe(document.documentElement);
  addEventListener('load', tell);
}

/** Has the drawing itself take the place of its image, once somebody turns to it. */
function follow(frame: HTMLElement, image: HTMLImageElement): void {
  const status = Object.assign(document.createElement('p'), { className: 'unseen', role: 'status' });
  frame.after(status);
  frame.tabIndex = 0;
  frame.role = 'img';
  frame.ariaLabel = `${image.alt} The table below has them all. Arrow keys go from figure to figure.`;
  const tips = tipsOn(frame, status);
  const whole = [...frame.childNodes];
  let shown = '';
  const turnTo = async () => {
    const { currentSrc } = image;
    if (currentSrc === '' || currentSrc === shown) return;
    shown = currentSrc;
    try {
      const response = await fetch(`${currentSrc}&tips=1`);
      if (response.ok) take(tips, await response.text());
    } catch {
      // The image stays.
    }
  };
  for (const kind of ['pointerenter', 'pointerdown', 'focus']) frame.addEventListener(kind, turnTo);
  // Another width has another drawing.
  const size = matchMedia('print');
  for (const change of [size, ...[320, 480, 680, 960].map((width) => matchMedia(`(min-width: ${width}px)`))])
    change.addEventListener('change', () => {
      shown = '';
      frame.replaceChildren(...whole);
    });
}

function take(tips: ReturnType<typeof tipsOn>, text: string): void {
  // The policy of the page lets no text bring styles along; what our own code sets is no such text.
  const bare = text.replaceAll(' style="', ' data-style="').replaceAll(/<style>.*?<\/style>/gs, '');
  const { documentElement } = new DOMParser().parseFromString(bare, 'image/svg+xml');
  const svg = document.importNode(documentElement, true) as unknown as SVGSVGElement;
  const metadata = svg.querySelector('metadata')?.textContent;
  if (metadata == null) return;
  for (const part of svg.querySelectorAll<SVGElement>('[data-style]')) {
    part.style.cssText = part.dataset.style ?? '';
    delete part.dataset.style;
  }
  svg.querySelector('title')?.remove();
  svg.setAttribute('aria-hidden', 'true');
  tips.take(svg, JSON.parse(metadata) as Spots);
  let chosen: string | null = null;
  for (const entry of svg.querySelectorAll<SVGElement>('[data-legend]')) {
    const line = entry.dataset.legend ?? '';
    entry.addEventListener('pointerenter', () => tips.pin(line));
    entry.addEventListener('pointerleave', () => tips.pin(chosen));
    // No figure is meant here, however near one is.
    for (const kind of ['pointermove', 'pointerdown'])
      entry.addEventListener(kind, (event) => event.stopPropagation());
    entry.addEventListener('click', () => {
      chosen = chosen === line ? null : line;
      tips.pin(chosen);
    });
  }
}
