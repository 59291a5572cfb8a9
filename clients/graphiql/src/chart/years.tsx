import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Choice } from './choice.tsx';

/** Milliseconds that a year is shown while the years play. */
const YEAR_MS = 800;

const stillness = matchMedia('(prefers-reduced-motion: reduce)');

const listen = (listener: () => void) => {
  stillness.addEventListener('change', listener);
  return () => stillness.removeEventListener('change', listener);
};

interface YearsProps {
  readonly years: readonly number[];
  /** Null for the latest figures. */
  readonly year: number | null;
  readonly choose: (year: number | null) => void;
}

/** Chooses a year, or the latest figures, at no call: by name, by a slider, step by step, or one after the other by itself. */
export function Years({ years, year, choose }: YearsProps) {
  const isStill = useSyncExternalStore(listen, () => stillness.matches);
  const [isPlaying, setPlaying] = useState(false);
  const last = years.length - 1;
  const index = year === null ? -1 : years.indexOf(year);
  const at = index < 0 ? last : index;
  const next = years[at + 1];
  const mayPlay = isPlaying && !isStill;
  const choosing = useRef(choose);
  choosing.current = choose;
  useEffect(() => {
    if (!mayPlay) return;
    const timer = setTimeout(() => {
      if (next === undefined) setPlaying(false);
      else choosing.current(next);
    }, YEAR_MS);
    return () => clearTimeout(timer);
  }, [mayPlay, next]);
  const step = (to: number | undefined) => {
    setPlaying(false);
    if (to !== undefined) choose(to);
  };
  const play = () => {
    if (!mayPlay && (year === null || next === undefined)) choose(years[0] ?? null);
    setPlaying(!mayPlay);
  };
  return (
    <>
      <Choice
        label="Year"
        value={String(year ?? '')}
        options={[['', 'latest'], ...years.toReversed().map((one) => [String(one), String(one)] as const)]}
        choose={(chosen) => {
          setPlaying(false);
          choose(chosen === '' ? null : Number(chosen));
        }}
      />
      {years.length > 1 && (
        <span className="years">
          <button
            type="button"
            aria-label="Year before"
            disabled={at === 0}
            onClick={() => step(years[at - 1])}
          >
            <span aria-hidden="true">‹</span>
          </button>
          <input
            type="range"
            aria-label="Slide through the years"
            aria-valuetext={year === null ? 'latest' : String(year)}
            min={0}
            max={last}
            value={at}
            onChange={(event) => step(years[Number(event.target.value)])}
          />
          <button
            type="button"
            aria-label="Year after"
            disabled={next === undefined}
            onClick={() => step(next)}
          >
            <span aria-hidden="true">›</span>
          </button>
          {!isStill && (
            <button type="button" onClick={play}>
              {mayPlay ? 'Pause' : 'Play'}
            </button>
          )}
          <output>{year ?? 'latest'}</output>
        </span>
      )}
    </>
  );
}
