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
  /** Addresses of the image, and of the drawing in its place. */
  let [turnedTo, shown] = ['', ''];
  const show = async (address: string) => {
    shown = address;
    try {
      const response = await fetch(`${address}&tips=1`);
      const svg = response.ok ? drawingIn(await response.text()) : null;
      // Meanwhile, somebody may have chosen another.
      if (svg === null || shown !== address) return;
      frame.role = 'group';
      tips.take(svg, JSON.parse(svg.querySelector('metadata')?.textContent ?? '') as Spots);
      followLegend(svg, address, { pin: tips.pin, show });
    } catch {
      // What is there stays.
    }
  };
  const turnTo = async (event: Event) => {
    const { currentSrc } = image;
    if (currentSrc === '' || currentSrc === turnedTo) return;
    turnedTo = currentSrc;
    await show(currentSrc);
    // A finger has come once, and is told what it has touched.
    if (!(event instanceof PointerEvent) || event.pointerType === 'mouse') return;
    const { clientX, clientY, pointerType } = event;
    const touched = document.elementFromPoint(clientX, clientY);
    touched?.dispatchEvent(new PointerEvent('pointerdown', { clientX, clientY, pointerType, bubbles: true }));
  };
  for (const kind of ['pointerenter', 'pointerdown', 'focus']) frame.addEventListener(kind, turnTo);
  // Another width has another drawing.
  const size = matchMedia('print');
  for (const change of [size, ...[320, 480, 680, 960].map((width) => matchMedia(`(min-width: ${width}px)`))])
    change.addEventListener('change', () => {
      [turnedTo, shown] = ['', ''];
      frame.role = 'img';
      frame.replaceChildren(...whole);
    });
}

/** Returns the drawing in the text of an SVG; null if that tells nothing of its figures. */
function drawingIn(text: string): SVGSVGElement | null {
  // The policy of the page lets no text bring styles along; what our own code sets is no such text.
  const bare = text.replaceAll(' style="', ' data-style="').replaceAll(/<style>.*?<\/style>/gs, '');
  const { documentElement } = new DOMParser().parseFromString(bare, 'image/svg+xml');
  const svg = document.importNode(documentElement, true) as unknown as SVGSVGElement;
  if (svg.querySelector('metadata') === null) return null;
  for (const part of svg.querySelectorAll<SVGElement>('[data-style]')) {
    part.style.cssText = part.dataset.style ?? '';
    delete part.dataset.style;
  }
  svg.querySelector('title')?.remove();
  svg.removeAttribute('role');
  // The frame says what is seen; the legend is used.
  for (const part of svg.children) if (!part.matches('.legend')) part.setAttribute('aria-hidden', 'true');
  return svg;
}

/** Parameter of the line that stands out. */
const FOCUS = 'picture.focus';

/** Has a line stand out while its name in the legend is pointed at, and drawn so, with its bounds, once it is chosen. */
function followLegend(
  svg: SVGSVGElement,
  address: string,
  { pin, show }: { pin(line: string | null): void; show(address: string): Promise<void> },
): void {
  const url = new URL(address);
  const focus = url.searchParams.get(FOCUS);
  for (const entry of svg.querySelectorAll<SVGElement>('[data-legend]')) {
    const line = entry.dataset.legend ?? '';
    const isChosen = line === focus;
    Object.assign(entry, { tabIndex: 0, role: 'button', ariaLabel: line, ariaPressed: String(isChosen) });
    const choose = async () => {
      const { parentNode } = svg;
      if (isChosen) url.searchParams.delete(FOCUS);
      else url.searchParams.set(FOCUS, line);
      await show(url.href);
      parentNode?.querySelector<SVGElement>(`[data-legend="${CSS.escape(line)}"]`)?.focus();
    };
    entry.addEventListener('pointerenter', () => pin(line));
    entry.addEventListener('pointerleave', () => pin(null));
    // No figure is meant here, however near one is.
    for (const kind of ['pointermove', 'pointerdown'])
      entry.addEventListener(kind, (event) => event.stopPropagation());
    entry.addEventListener('click', choose);
    entry.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      choose();
    });
  }
}
