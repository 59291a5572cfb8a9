import * as Plot from '@observablehq/plot';
import { useEffect, useMemo, useRef } from 'react';
import { useLook } from '../looks.ts';
import { type Colours, DARK, LIGHT } from './colours.ts';
import { Choice } from './controls.tsx';
import type { Figure } from './figures.ts';
import { originOf, sourcesOf } from './notes.ts';
import { fullNumber, shortNumber } from './numbers.ts';
import { type BarsPicture, MAP_COUNTRIES, type Picture } from './picture.ts';
import { inGroup, type Look, labelOf, type Plotted, plotted } from './plot.ts';
import { useWidth } from './width.ts';

/** Countries with a figure of each of two indicators. */
interface Pair {
  readonly x: Figure;
  readonly y: Figure;
}

type Mapped = BarsPicture & { readonly map: readonly Figure[] };

/** Pictures of enough countries to be set against each other. */
const mappedIn = (pictures: readonly Picture[]): Mapped[] =>
  pictures.filter((one): one is Mapped => one.kind === 'bars' && one.map !== null);

export function pairsOf(x: Mapped, y: Mapped): readonly Pair[] {
  const byCode = new Map(y.map.map((figure) => [figure.country, figure]));
  return x.map.flatMap((figure) => {
    const other = byCode.get(figure.country);
    return other === undefined ? [] : [{ x: figure, y: other }];
  });
}

/** Sets the figures of two indicators against each other, a dot a country; it takes no call. */
export function Scatter({
  pictures,
  isSynthetic,
  isDark,
}: {
  readonly pictures: readonly Picture[];
  readonly isSynthetic: boolean;
  readonly isDark: boolean;
}) {
  const all = useMemo(() => mappedIn(pictures), [pictures]);
  const [look, change] = useLook('scatter');
  const [xKey, yKey] = (look.kind ?? '').split('|');
  const x = all.find(({ key }) => key === xKey) ?? all[0];
  const y = all.find(({ key }) => key === yKey) ?? all.find((one) => one !== x);
  const pairs = useMemo(() => (x === undefined || y === undefined ? [] : pairsOf(x, y)), [x, y]);
  if (x === undefined || y === undefined || pairs.length < MAP_COUNTRIES) return null;
  const options = all.map(({ key, title }) => [key, title] as const);
  const sources = sourcesOf(pairs.flatMap((pair) => [pair.x, pair.y]));
  const canBeLog = pairs.every((pair) => pair.x.value > 0 && pair.y.value > 0);
  return (
    <figure className="picture">
      <figcaption>
        <strong>
          {y.title} against {x.title}
        </strong>
        <span>{pairs.length} countries, latest figures</span>
      </figcaption>
      <div className="controls">
        <Choice
          label="Across"
          value={x.key}
          options={options}
          choose={(key) => change({ kind: `${key}|${y.key}` })}
        />
        <Choice
          label="Up"
          value={y.key}
          options={options}
          choose={(key) => change({ kind: `${x.key}|${key}` })}
        />
        {canBeLog && (
          <Choice
            label="Scales"
            value={look.isLog ? 'log' : 'linear'}
            options={[
              ['linear', 'linear'],
              ['log', 'logarithmic'],
            ]}
            choose={(scale) => change({ isLog: scale === 'log' })}
          />
        )}
      </div>
      <Dots pairs={pairs} x={x} y={y} isLog={look.isLog && canBeLog} colours={isDark ? DARK : LIGHT} />
      <div className="under">
        {originOf(sources, isSynthetic).map((note) => (
          <p key={note}>{note}</p>
        ))}
      </div>
    </figure>
  );
}

interface DotsProps {
  readonly pairs: readonly Pair[];
  readonly x: Mapped;
  readonly y: Mapped;
  readonly isLog: boolean;
  readonly colours: Colours;
}

function Dots({ pairs, x, y, isLog, colours }: DotsProps) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  useEffect(() => {
    if (width === 0) return;
    const drawn = drawScatter(pairs, x, y, { width, colours, isLog });
    drawn.setAttribute('aria-hidden', 'true');
    frame.current?.replaceChildren(drawn);
  }, [pairs, x, y, width, colours, isLog]);
  const words = `${y.title} against ${x.title}: a dot for each of ${pairs.length} countries. The tables below have the figures.`;
  return <div ref={frame} className="frame scatter" role="img" aria-label={words} />;
}

function drawScatter(pairs: readonly Pair[], x: Mapped, y: Mapped, look: Look): Plotted {
  const { width, colours, isLog = false } = look;
  const type = isLog ? ('log' as const) : ('linear' as const);
  const height = Math.round(Math.min(520, Math.max(280, width * 0.66)));
  const at = { x: (pair: Pair) => pair.x.value, y: (pair: Pair) => pair.y.value };
  const label = ({ title, unit }: Mapped) => (title === unit ? title : `${title}, ${unit}`);
  return plotted(
    {
      height,
      marginLeft: 62,
      marginTop: 28,
      marginBottom: 40,
      marginRight: 20,
      x: { type, label: label(x), nice: true, ticks: width / 110, tickFormat: shortNumber },
      y: { type, label: label(y), nice: true, ticks: height / 60, tickFormat: shortNumber },
      marks: [
        Plot.gridX({ stroke: colours.grid, strokeOpacity: 1, ticks: width / 110 }),
        Plot.gridY({ stroke: colours.grid, strokeOpacity: 1, ticks: height / 60 }),
        Plot.dot(pairs, { ...at, r: 4, fill: colours.above, ...inGroup('points') }),
        Plot.text(pairs, {
          ...at,
          text: (pair: Pair) => pair.x.country,
          dy: -9,
          fontSize: 10,
          fill: colours.muted,
        }),
        Plot.tip(
          pairs,
          Plot.pointer({
            ...at,
            title: (pair: Pair) =>
              [
                labelOf(pair.x),
                `${fullNumber(pair.x.value)} ${x.unit}, ${pair.x.year ?? ''}`,
                `${fullNumber(pair.y.value)} ${y.unit}, ${pair.y.year ?? ''}`,
              ].join('\n'),
            fill: colours.ground,
            stroke: colours.outline,
            lineHeight: 1.25,
          }),
        ),
      ],
    },
    look,
  );
}
