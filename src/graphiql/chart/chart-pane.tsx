import { useEffect, useMemo, useRef, useState } from 'react';
import { lastExchange } from '../exchange.ts';
import { useStore } from '../store.ts';
import { COLUMNS } from './csv.ts';
import { figuresIn } from './figures.ts';
import { saveCsv, savePng, saveSvg } from './files.ts';
import { type Picture, picturesOf } from './picture.ts';
import { colourOf, drawBars, drawLines, drawMap, drawMapLegend } from './plot.ts';

/** Rows of the table that are written out; the file has them all. */
const MAX_ROWS = 500;

const MIN_WIDTH = 280;

/** The figures of the last response as pictures, with a table behind each. */
export default function ChartPane() {
  const exchange = useStore(lastExchange);
  const pictures = useMemo(() => {
    if (exchange === null) return [];
    const { query, variables = {}, operationName } = exchange.operation;
    return picturesOf(figuresIn(query, variables, operationName, exchange.answer.data));
  }, [exchange]);
  if (exchange === null) return <p>Run an operation that holds figures, and they are drawn here.</p>;
  if (pictures.length === 0) {
    return (
      <p>
        The last response holds no figures with a <code>value</code>. Select <code>value</code>,{' '}
        <code>year</code> and <code>unit</code> of an observation.
      </p>
    );
  }
  return pictures.map((picture) => <PictureView key={nameOf(picture)} picture={picture} />);
}

/** Tells a picture from the others of a response. */
function nameOf({ kind, unit, figures: [first] }: Picture): string {
  return `${kind} ${unit} ${first?.indicator}`;
}

function PictureView({ picture }: { readonly picture: Picture }) {
  const canBeMap = picture.kind === 'bars' && picture.canBeMap;
  const [wantsBars, setWantsBars] = useState(false);
  const isMap = canBeMap && !wantsBars;
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(MIN_WIDTH);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.max(MIN_WIDTH, Math.floor(entry.contentRect.width)));
    });
    if (frame.current !== null) observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const drawn =
      picture.kind === 'lines'
        ? drawLines(picture, width)
        : isMap
          ? drawMap(picture, width)
          : drawBars(picture, width);
    const legend = picture.kind === 'bars' && isMap ? [drawMapLegend(picture, width)] : [];
    for (const part of [drawn, ...legend]) part.setAttribute('aria-hidden', 'true');
    frame.current?.replaceChildren(drawn, ...legend);
  }, [picture, width, isMap]);

  const { figures, unit } = picture;
  const [first] = figures;
  const title =
    new Set(figures.map(({ indicator }) => indicator)).size === 1 ? (first?.indicatorName ?? '') : unit;
  const name = `${first?.indicator ?? 'figures'}-${picture.kind}`.replace(/[^\w-]+/g, '_');
  const sources = [...new Set(figures.flatMap(({ source }) => source ?? []))];
  const svg = () => frame.current?.querySelector('svg') ?? null;
  const names = picture.kind === 'lines' ? picture.lines.map((line) => line.name) : [];
  const colour = colourOf(names);

  return (
    <figure className="picture">
      <figcaption>
        <strong>{title}</strong>
        {unit !== title && <span>, {unit}</span>}
      </figcaption>
      {names.length > 1 && (
        <ul className="legend">
          {names.map((line) => (
            <li key={line}>
              <span className="swatch" style={{ background: colour(line) }} /> {line}
            </li>
          ))}
        </ul>
      )}
      <div ref={frame} className={isMap ? 'frame map' : `frame ${picture.kind}`} />
      <p className="under">
        {figures.some(({ isModelled }) => isModelled) && 'Hollow or pale: modelled. '}
        {figures.some(({ isStale }) => isStale) && 'Some figures are past their time. '}
        {sources.length > 0
          ? `Source: ${sources.join(', ')}.`
          : 'Select source { key } to see the source here.'}
      </p>
      <div className="actions">
        {canBeMap && (
          <button type="button" onClick={() => setWantsBars(!wantsBars)}>
            {isMap ? 'As bars' : 'As map'}
          </button>
        )}
        <button type="button" onClick={() => void savePng(name, svg() as SVGElement)}>
          PNG
        </button>
        <button type="button" onClick={() => saveSvg(name, svg() as SVGElement)}>
          SVG
        </button>
        <button type="button" onClick={() => saveCsv(name, figures)}>
          CSV
        </button>
      </div>
      <details>
        <summary>Table of {figures.length} figures</summary>
        <table>
          <thead>
            <tr>
              {COLUMNS.map(([column]) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {figures.slice(0, MAX_ROWS).map((figure, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name and never move
              <tr key={i}>
                {COLUMNS.map(([column, of]) => (
                  <td key={column}>{of(figure) ?? ''}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {figures.length > MAX_ROWS && <p>The first {MAX_ROWS}; the CSV has them all.</p>}
      </details>
    </figure>
  );
}
