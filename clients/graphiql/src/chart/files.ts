import { saveFile } from '../save-file.ts';
import { csvOf, type Table } from './csv.ts';
import { asXml } from './poster.ts';

const PNG_SCALE = 2;

function blobOf(svg: SVGSVGElement): Blob {
  return new Blob([asXml(new XMLSerializer().serializeToString(svg))], { type: 'image/svg+xml' });
}

export function saveSvg(name: string, svg: SVGSVGElement): void {
  saveFile(`${name}.svg`, blobOf(svg));
}

export async function savePng(name: string, svg: SVGSVGElement): Promise<void> {
  const url = URL.createObjectURL(blobOf(svg));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = Number(svg.getAttribute('width')) * PNG_SCALE;
    canvas.height = Number(svg.getAttribute('height')) * PNG_SCALE;
    const context = canvas.getContext('2d');
    if (context === null) return;
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => {
      if (blob !== null) saveFile(`${name}.png`, blob);
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}

export function saveCsv(name: string, table: Table): void {
  saveFile(`${name}.csv`, new Blob([csvOf(table)], { type: 'text/csv' }));
}

export function saveHtml(name: string, page: string): void {
  saveFile(`${name}.html`, new Blob([page], { type: 'text/html' }));
}
