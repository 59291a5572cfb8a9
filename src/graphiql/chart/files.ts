import { csvOf } from './csv.ts';
import type { Figure } from './figures.ts';

const PNG_SCALE = 2;

/** Offers something to save. */
function save(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** The picture by itself, on white, with its colours written into it. */
function markupOf(svg: SVGElement): string {
  const copy = svg.cloneNode(true) as SVGElement;
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.style.background = 'white';
  copy.style.color = 'black';
  return new XMLSerializer()
    .serializeToString(copy)
    .replaceAll('var(--pane-background, white)', 'white')
    .replaceAll('var(--bar, #b3418b)', '#b3418b');
}

export function saveSvg(name: string, svg: SVGElement): void {
  save(`${name}.svg`, new Blob([markupOf(svg)], { type: 'image/svg+xml' }));
}

export async function savePng(name: string, svg: SVGElement): Promise<void> {
  const { width, height } = svg.getBoundingClientRect();
  const url = URL.createObjectURL(new Blob([markupOf(svg)], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = width * PNG_SCALE;
    canvas.height = height * PNG_SCALE;
    const context = canvas.getContext('2d');
    if (context === null) return;
    context.fillStyle = 'white';
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => {
      if (blob !== null) save(`${name}.png`, blob);
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}

export function saveCsv(name: string, figures: readonly Figure[]): void {
  save(`${name}.csv`, new Blob([csvOf(figures)], { type: 'text/csv' }));
}
