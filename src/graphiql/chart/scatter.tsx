import * as Plot from '@observablehq/plot';
import { useEffect, useMemo, useRef } from 'react';
import { useLook } from '../looks.ts';
import { Choice } from './choice.tsx';
import { type Colours, DARK, LIGHT } from './colours.ts';
import type { Figure } from './figures.ts';
import { rankingOf, yearsIn } from './measured.ts';
import { originOf, sourcesOf } from './notes.ts';
import { fullNumber, shortNumber } from './numbers.ts';
import { type BarsPicture, type LinesPicture, MAP_COUNTRIES, type Picture } from './picture.ts';
import { CHARACTER, inGroup, type Look, labelOf, type Plotted, plotted, shortened } from './plot.ts';
import { useWidth } from './width.ts';
import { Years } from './years.tsx';

/** Countries with a figure of each of two indicators. */
interface Pair {
  readonly x: Figure;
  readonly y: Figure;
}

type Mapped = BarsPicture & {
  readonly map: readonly Figure[];
  /** Its years; null where the latest figures are all there is. */
  readonly series: LinesPicture | null;
};

const isMapped = (picture: BarsPicture): picture is BarsPicture & { readonly map: readonly Figure[] } =>
  picture.map !== null;

/** Pictures of enough countries to be set against each other, by their latest figures. */
function mappedIn(pictures: readonly Picture[]): Mapped[] {
  return pictures.flatMap((picture): Mapped[] => {
    if (picture.kind === 'values') return [];
    const series = picture.kind === 'lines' ? picture : null;
    const latest = picture.kind === 'lines' ? rankingOf(picture, null) : picture;
    return isMapped(latest) ? [{ ...latest, series }] : [];
  });
}

/** The figures of a year. */
function inYear(mapped: Mapped, year: number): Mapped {
  const there = mapped.series === null ? mapped : rankingOf(mapped.series, year);
  return { ...mapped, ...there, map: there.map ?? [] };
}

/** Years that both have figures of; none where one has the latest alone. */
function commonYears(x: Mapped, y: Mapped): readonly number[] {
  if (x.series === null || y.series === null) return [];
  const others = new Set(yearsIn(y.series));
  return yearsIn(x.series).filter((year) => others.has(year));
}

function pairsOf(x: Mapped, y: Mapped): readonly Pair[] {
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
  const years = useMemo(() => (x === undefined || y === undefined ? [] : commonYears(x, y)), [x, y]);
  const year = look.year !== null && years.includes(look.year) ? look.year : null;
  const pairs = useMemo(() => {
    if (x === undefined || y === undefined) return [];
    return year === null ? pairsOf(x, y) : pairsOf(inYear(x, year), inYear(y, year));
  }, [x, y, year]);
  if (x === undefined || y === undefined || pairsOf(x, y).length < MAP_COUNTRIES) return null;
  const options = all.map(({ key, title }) => [key, title] as const);
  const sources = sourcesOf(pairs.flatMap((pair) => [pair.x, pair.y]));
  const isPositive = ({ scaleOf, map }: Mapped) =>
    (scaleOf ?? map.map(({ value }) => value)).every((value) => value > 0);
  const canBeLog = isPositive(x) && isPositive(y);
  return (
    <figure className="picture">
      <figcaption>
        <strong>
          {y.title} against {x.title}
        </strong>
        <span>
          {pairs.length} countries, {year ?? 'latest figures'}
        </span>
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
        {years.length > 0 && (
          <Years years={years} year={year} choose={(chosen) => change({ year: chosen })} />
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

/** Scales stay as they are from year to year. */
const reachOf = ({ scaleOf }: Mapped) =>
  scaleOf === undefined
    ? {}
    : { domain: [scaleOf.reduce((a, b) => Math.min(a, b)), scaleOf.reduce((a, b) => Math.max(a, b))] };

function drawScatter(pairs: readonly Pair[], x: Mapped, y: Mapped, look: Look): Plotted {
  const { width, colours, isLog = false } = look;
  const type = isLog ? ('log' as const) : ('linear' as const);
  const height = Math.round(Math.min(520, Math.max(280, width * 0.66)));
  const at = { x: (pair: Pair) => pair.x.value, y: (pair: Pair) => pair.y.value };
  const label = ({ title, unit }: Mapped) =>
    shortened(title === unit ? title : `${title}, ${unit}`, width / CHARACTER - 4);
  return plotted(
    {
      height,
      marginLeft: 62,
      marginTop: 28,
      marginBottom: 40,
      marginRight: 20,
      x: { type, label: label(x), ...reachOf(x), nice: true, ticks: width / 110, tickFormat: shortNumber },
      y: { type, label: label(y), ...reachOf(y), nice: true, ticks: height / 60, tickFormat: shortNumber },
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
