import { useEffect, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { useLook } from '../looks.ts';
import { pagesOf } from '../source-names.ts';
import { afterOthers } from '../turns.ts';
import { paper } from '../view.ts';
import { AboutFigures } from './about-figures.tsx';
import { barNames, barsHeight } from './bars.ts';
import { Cite, linkToPicture } from './cite.tsx';
import { type Colours, DARK, LIGHT } from './colours.ts';
import { Controls } from './controls.tsx';
import { readableTableOf, readableWideTableOf, tableOf, wideTableOf } from './csv.ts';
import { draw } from './drawing.ts';
import { saveCsv, saveHtml, savePng, saveSvg } from './files.ts';
import { FurtherCountry } from './further-country.tsx';
import { chosenOf, lineColours } from './lines.ts';
import { Members } from './members.tsx';
import { figuresOf, notesOf, type Shown, subtitleOf } from './notes.ts';
import { counted } from './numbers.ts';
import { type BarsPicture, type LinesPicture, MAX_BARS, MAX_COLOURED, type Picture } from './picture.ts';
import { PLAIN } from './plain-look.ts';
import type { Look } from './plot.ts';
import { othersName, type PosterLook, posterOf } from './poster.ts';
import { roomFor } from './room.ts';
import { canMap, drawnOf, hasLegend, inWords, shownAs } from './shown.ts';
import { SortableTable } from './sortable-table.tsx';
import { storyOf } from './story.ts';
import { membersByLine, ofScope, withoutMembers } from './subjects.ts';
import { emphasise, tipsOn } from './tips.ts';
import { useWidth } from './width.ts';
import { ranked } from './written-table.ts';

/** A picture with its notes, its figures as a table, and all of that as files. */
export function PictureView({
  picture: whole,
  isSynthetic,
  isDark,
}: {
  readonly picture: Picture;
  readonly isSynthetic: boolean;
  readonly isDark: boolean;
}) {
  const [look, change] = useLook(whole.key);
  const { removed, scope } = look;
  const members = useMemo(() => withoutMembers(whole, removed), [whole, removed]);
  const left = useMemo(() => ofScope(members, scope), [members, scope]);
  const canBeMap = useMemo(() => canMap(left), [left]);
  const shown = shownAs(left, look, canBeMap);
  const { isLog, measure, base, year } = look;
  const picture = useMemo(
    () => drawnOf(left, shown, { ...PLAIN, isLog, measure, base, year }),
    [left, shown, isLog, measure, base, year],
  );
  const { isShared, focus, axis } = look;
  const scales = useMemo(() => ({ isShared, focus, axis }), [isShared, focus, axis]);
  const chosen = useMemo(() => chosenOf(look), [look]);
  const colours = isDark ? DARK : LIGHT;
  const series = left.kind === 'lines' ? left : null;
  const pages = useMemo(() => [...pagesOf(picture.figures)], [picture]);
  const story = useMemo(() => storyOf(picture, shown), [picture, shown]);
  const isLined = hasLegend(picture, shown);
  const keys = useMemo(() => (isLined ? membersByLine(left) : null), [isLined, left]);
  return (
    <figure className="picture">
      <figcaption>
        <strong>{picture.title}</strong>
        <span>{subtitleOf(picture, shown)}</span>
      </figcaption>
      {isLined && (
        <Legend
          picture={picture}
          takeOut={keys && ((name) => change({ removed: [...removed, keys.get(name) ?? ''] }))}
          chosen={chosen}
          choose={(highlight) => change({ highlight })}
          focus={focus}
          focusOn={(line) => change({ focus: line })}
          colours={colours}
        />
      )}
      {whole.kind !== 'values' && left.kind !== 'values' && (
        <>
          <Members picture={whole} isInLegend={keys !== null} look={look} change={change} />
          <FurtherCountry picture={whole} />
          <Controls
            picture={left}
            whole={whole}
            look={look}
            shown={shown}
            canBeMap={canBeMap}
            bars={picture.kind === 'bars' && shown === 'ranking' ? barNames(picture.bars) : []}
            change={change}
          />
        </>
      )}
      {picture.kind === 'values' ? (
        <Values picture={picture} />
      ) : (
        <Frame picture={picture} shown={shown} chosen={chosen} scales={scales} colours={colours} />
      )}
      <div className="under">
        {story !== '' && <p className="story">{story}</p>}
        {notesOf(picture, shown, isSynthetic).map((note) => (
          <p key={note}>
            <WithLinks text={note} pages={pages} />
          </p>
        ))}
        {shown === 'ranking' && picture.figures.length > MAX_BARS && (
          <p>
            The {MAX_BARS} highest of {picture.figures.length}; the table has them all.
          </p>
        )}
      </div>
      <div className="actions">
        <Files
          picture={picture}
          series={series}
          shown={shown}
          chosen={chosen}
          scales={scales}
          isSynthetic={isSynthetic}
        />
        <Cite figures={figuresOf(picture, shown)} story={story} />
      </div>
      {picture.kind !== 'values' && (
        <>
          <Figures picture={picture} series={series} isRanking={shown === 'ranking'} />
          <AboutFigures figures={figuresOf(picture, shown)} />
        </>
      )}
    </figure>
  );
}

/** Keeps the room of bars that are still to be drawn; other pictures have that of the style sheet. */
function leastOf(picture: LinesPicture | BarsPicture, shown: Shown) {
  if (picture.kind !== 'bars' || shown !== 'ranking') return {};
  const [wide, narrow] = [false, true].map((isNarrow) => `${barsHeight(picture, isNarrow)}px`);
  return { '--least': wide, '--least-narrow': narrow } as object;
}

type Scales = Pick<Look, 'isShared' | 'focus' | 'axis'>;

/** Draws at the width that it is given, once it comes into view. */
function Frame({
  picture,
  shown,
  chosen,
  scales,
  colours,
}: {
  readonly picture: LinesPicture | BarsPicture;
  readonly shown: Shown;
  readonly chosen: readonly string[];
  readonly scales: Scales;
  readonly colours: Colours;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const status = useRef<HTMLParagraphElement>(null);
  const tips = useRef<ReturnType<typeof tipsOn>>(null);
  const width = useWidth(frame);
  const { focus } = scales;
  const focused = useRef(focus);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (frame.current === null) return;
    const seen = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
      },
      { rootMargin: '400px' },
    );
    seen.observe(frame.current);
    // Takes all of the page for seen on paper.
    const onPrint = () => flushSync(() => setSeen(true));
    paper.addEventListener('change', onPrint);
    return () => {
      paper.removeEventListener('change', onPrint);
      seen.disconnect();
    };
  }, []);
  useEffect(() => {
    if (width === 0 || !isSeen) return;
    let isCurrent = true;
    const show = () => {
      if (!isCurrent || frame.current === null || status.current === null) return;
      const room = roomFor(frame.current);
      const drawn = draw(picture, shown, chosen, { ...scales, width, room, colours });
      if (drawn === null) return;
      drawn.setAttribute('aria-hidden', 'true');
      tips.current ??= tipsOn(frame.current, status.current);
      tips.current.take(drawn, drawn.spots);
      // One of many bars may be out of view.
      if (focus !== focused.current) drawn.querySelector('.stands-out')?.scrollIntoView({ block: 'center' });
      focused.current = focus;
    };
    // A dozen maps take a second: they come one by one, but on paper.
    if (paper.matches) show();
    else afterOthers(show);
    return () => {
      isCurrent = false;
    };
  }, [picture, shown, chosen, scales, focus, width, colours, isSeen]);
  return (
    <>
      <div
        ref={frame}
        className={`frame ${shown}`}
        style={leastOf(picture, shown)}
        role="img"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys go from figure to figure
        tabIndex={0}
        aria-label={`${inWords(picture, shown)} The table below has them all. Arrow keys go from figure to figure.`}
      />
      <p ref={status} className="unseen" role="status" />
    </>
  );
}

function Legend({
  picture,
  takeOut,
  chosen,
  choose,
  focus,
  focusOn,
  colours,
}: {
  readonly picture: LinesPicture;
  /** Null if lines are taken out elsewhere. */
  readonly takeOut: ((name: string) => void) | null;
  readonly chosen: readonly string[];
  readonly choose: (names: readonly string[]) => void;
  /** The line that stands out; null for none. */
  readonly focus: string | null;
  readonly focusOn: (name: string | null) => void;
  readonly colours: Colours;
}) {
  const list = useRef<HTMLUListElement>(null);
  const light = (name: string | null) => {
    const drawn = list.current?.closest('.picture')?.querySelector<SVGSVGElement>('.frame svg');
    if (drawn != null) emphasise(drawn, name, true);
  };
  const { top, rest, colourOf } = lineColours(picture, chosen, colours);
  if (top.length < 2) return null;
  return (
    <div className="legend">
      <ul ref={list}>
        {top.map(({ name }) => (
          <li key={name} onPointerEnter={() => light(name)} onPointerLeave={() => light(null)}>
            <button
              type="button"
              className="line"
              aria-pressed={focus === name}
              title={focus === name ? 'Show all lines alike' : `Let ${name} stand out`}
              onClick={() => focusOn(focus === name ? null : name)}
              onFocus={() => light(name)}
              onBlur={() => light(null)}
            >
              <span className="swatch" style={{ background: colourOf(name) }} />
              {name}
            </button>
            {takeOut !== null && (
              <button
                type="button"
                className="take-out"
                aria-label={`Take ${name} out`}
                title={`Take ${name} out`}
                onClick={() => takeOut(name)}
              />
            )}
          </li>
        ))}
        {rest.length > 0 && (
          <li>
            <span className="swatch" style={{ background: colours.other }} />
            {othersName(rest.length)}
          </li>
        )}
      </ul>
      {rest.length > 0 && (
        <label>
          Highlight{' '}
          <select
            value=""
            onChange={(event) => choose([event.target.value, ...chosen].slice(0, MAX_COLOURED))}
          >
            <option value="" disabled>
              one of the others
            </option>
            {rest
              .map(({ name }) => name)
              .sort()
              .map((name) => (
                <option key={name}>{name}</option>
              ))}
          </select>
        </label>
      )}
    </div>
  );
}

/** A note, with the names of sources as links to their pages. */
export function WithLinks({
  text,
  pages,
}: {
  readonly text: string;
  readonly pages: readonly (readonly [string, string])[];
}) {
  const match = pages.find(([name]) => text.includes(name));
  if (match === undefined) return text;
  const [name, url] = match;
  const [before = '', ...rest] = text.split(name);
  const otherPages = pages.filter((page) => page !== match);
  return (
    <>
      <WithLinks text={before} pages={otherPages} />
      <a href={url} target="_blank" rel="noreferrer">
        {name}
      </a>
      <WithLinks text={rest.join(name)} pages={otherPages} />
    </>
  );
}

interface TableProps {
  readonly picture: Picture;
  /** All years of it, if the picture shows one of them. */
  readonly series?: LinesPicture | null;
  readonly isRanking?: boolean | undefined;
}

function Values({ picture, series = null, isRanking = false }: TableProps) {
  const [isWide, setWide] = useState(false);
  const table = useMemo(() => {
    if (isWide && series !== null) return readableWideTableOf(series.figures);
    const figures = readableTableOf(picture.figures);
    return isRanking ? ranked(figures) : figures;
  }, [picture, series, isWide, isRanking]);
  return (
    <>
      {series !== null && (
        <label className="wide-table">
          <input type="checkbox" checked={isWide} onChange={(event) => setWide(event.target.checked)} />
          Years as columns
        </label>
      )}
      <SortableTable key={String(isWide)} table={table} label={picture.title} />
    </>
  );
}

/** The figures behind a picture, written out once somebody wants to see them. */
function Figures({ picture, series = null, isRanking }: TableProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Table of {counted(picture.figures.length, 'figure')}</summary>
      {isOpen && <Values picture={picture} series={series} isRanking={isRanking} />}
    </details>
  );
}

function Files({
  picture,
  series,
  shown,
  chosen,
  scales,
  isSynthetic,
}: {
  readonly picture: Picture;
  readonly series: LinesPicture | null;
  readonly shown: Shown;
  readonly chosen: readonly string[];
  readonly scales: Scales;
  readonly isSynthetic: boolean;
}) {
  const [first] = picture.figures;
  const what = picture.kind === 'values' ? 'figures' : `${first?.indicator ?? 'figures'}-${shown}`;
  const name = what.replace(/[^\w-]+/g, '_');
  const poster = (look?: PosterLook) =>
    posterOf(picture, shown, chosen, isSynthetic, scales, look) as SVGSVGElement;
  const page = async () => {
    const { staticPageOf } = await import('./static-page.ts');
    if (picture.kind === 'values') return '';
    const figures = figuresOf(picture, shown);
    return staticPageOf({
      title: picture.title,
      subtitle: subtitleOf(picture, shown),
      words: inWords(picture, shown),
      notes: notesOf(picture, shown, isSynthetic),
      pages: [...pagesOf(figures)],
      figures,
      isRanking: shown === 'ranking',
      name,
      theme: 'auto',
      from: linkToPicture(),
      draw: (at) => poster({ ...at, isBare: true }),
    });
  };
  return (
    <>
      {picture.kind !== 'values' && (
        <>
          <button type="button" onClick={() => void savePng(name, poster())}>
            PNG
          </button>
          <button type="button" onClick={() => saveSvg(name, poster())}>
            SVG
          </button>
          <button
            type="button"
            title="One page with picture and figures, for any browser"
            onClick={() => void page().then((html) => saveHtml(name, html))}
          >
            HTML
          </button>
        </>
      )}
      <button type="button" onClick={() => saveCsv(name, tableOf(picture.figures))}>
        CSV
      </button>
      {series !== null && (
        <button type="button" onClick={() => saveCsv(`${name}-wide`, wideTableOf(series.figures))}>
          CSV by year
        </button>
      )}
    </>
  );
}
