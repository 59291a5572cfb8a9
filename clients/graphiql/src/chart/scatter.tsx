import { useEffect, useMemo, useRef } from 'react';
import { useLook } from '../looks.ts';
import { Choice } from './choice.tsx';
import { type Colours, DARK, LIGHT } from './colours.ts';
import {
  commonYears,
  drawScatter,
  isPositive,
  type Mapped,
  mappedIn,
  type Pair,
  pairsOf,
  scaledPairs,
  subtitleOf,
  titleOf,
  wordsOf,
} from './dots.ts';
import { originOf } from './notes.ts';
import { MAP_COUNTRIES, type Picture } from './picture.ts';
import { roomFor } from './room.ts';
import { tipsOn } from './tips.ts';
import { useWidth } from './width.ts';
import { Years } from './years.tsx';

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
  const { isLog: wantsLog } = look;
  const scaled = useMemo(
    () => (x === undefined || y === undefined ? null : scaledPairs(x, y, year, wantsLog)),
    [x, y, year, wantsLog],
  );
  if (x === undefined || y === undefined || scaled === null || pairsOf(x, y).length < MAP_COUNTRIES)
    return null;
  const { pairs, isLog, remarks } = scaled;
  const options = all.map(({ key, title }) => [key, title] as const);
  const figures = pairs.flatMap((pair) => [pair.x, pair.y]);
  const canBeLog = wantsLog || (isPositive(x) && isPositive(y));
  return (
    <figure className="picture">
      <figcaption>
        <strong>{titleOf(x, y)}</strong>
        <span>{subtitleOf(pairs, year)}</span>
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
      <Dots pairs={pairs} x={x} y={y} isLog={isLog} colours={isDark ? DARK : LIGHT} />
      <div className="under">
        {[...originOf(figures, isSynthetic), ...remarks].map((note) => (
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
  const status = useRef<HTMLParagraphElement>(null);
  const tips = useRef<ReturnType<typeof tipsOn>>(null);
  const width = useWidth(frame);
  useEffect(() => {
    if (width === 0 || frame.current === null || status.current === null) return;
    const room = roomFor(frame.current);
    const drawn = drawScatter(pairs, x, y, { width, room, colours, isLog });
    drawn.setAttribute('aria-hidden', 'true');
    tips.current ??= tipsOn(frame.current, status.current);
    tips.current.take(drawn, drawn.spots);
  }, [pairs, x, y, width, colours, isLog]);
  return (
    <>
      <div
        ref={frame}
        className="frame scatter"
        role="img"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys go from dot to dot
        tabIndex={0}
        aria-label={`${wordsOf(pairs, x, y)} The tables below have the figures. Arrow keys go from country to country.`}
      />
      <p ref={status} className="unseen" role="status" />
    </>
  );
}
