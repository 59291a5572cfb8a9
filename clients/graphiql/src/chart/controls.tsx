import type { Look } from '../looks.ts';
import { ButtonChoice, Choice } from './choice.tsx';
import { baseYearOf, yearsIn } from './measured.ts';
import type { Shown } from './notes.ts';
import { type BarsPicture, type LinesPicture, MAX_COLOURED } from './picture.ts';
import { Places } from './places.tsx';
import { Years } from './years.tsx';
import { YearsToCome } from './years-to-come.tsx';

const KINDS: Readonly<Record<string, string>> = {
  lines: 'Lines',
  'small-pictures': 'Small pictures',
  ranking: 'Ranking',
  map: 'Map',
};

const MEASURES: Readonly<Record<Look['measure'], string>> = {
  value: 'as they are',
  index: 'index = 100',
  difference: 'difference',
  percent: 'percent',
};

/** Where an axis begins, if that is not left to the values. */
const FROM = [
  ['zero', 'linear, from zero'],
  ['data', 'linear, from the least'],
] as const;

interface ControlsProps {
  readonly picture: LinesPicture | BarsPicture;
  /** The same with figures of places and of whole countries, as far as there are both. */
  readonly whole: LinesPicture | BarsPicture;
  readonly look: Look;
  readonly shown: Shown;
  readonly canBeMap: boolean;
  /** Names of the bars that are drawn; empty if none are. */
  readonly bars: readonly string[];
  readonly change: (change: Partial<Look>) => void;
}

/**
 * Choices of how a picture is drawn, made of figures that are there, at no call; and of figures that are asked for besides.
 */
export function Controls({ picture, whole, look, shown, canBeMap, bars, change }: ControlsProps) {
  const isLines = picture.kind === 'lines';
  const kinds = isLines
    ? [
        'lines',
        ...(picture.lines.length > MAX_COLOURED ? ['small-pictures'] : []),
        'ranking',
        ...(canBeMap ? ['map'] : []),
      ]
    : canBeMap
      ? ['map', 'ranking']
      : [];
  const isOverTime = shown === 'lines' || shown === 'small-pictures';
  const years = isLines ? yearsIn(picture) : [];
  const isPositive = isLines && picture.figures.every(({ value }) => value > 0);
  const canBeLog = (isPositive || look.isLog) && (look.measure === 'value' || look.measure === 'index');
  const scales = [
    ['linear', 'linear'] as const,
    ...(shown === 'lines' ? FROM : []),
    ...(canBeLog ? [['log', 'logarithmic'] as const] : []),
  ];
  return (
    <div className="controls how">
      {kinds.length > 1 && (
        <ButtonChoice
          label="Draw"
          value={shown}
          options={kinds.map((kind) => [kind, KINDS[kind] ?? kind])}
          choose={(kind) => change({ kind })}
        />
      )}
      {bars.length > 1 && (
        <Choice
          label="Stands out"
          value={look.focus !== null && bars.includes(look.focus) ? look.focus : ''}
          options={[['', 'none'], ...[...new Set(bars)].sort().map((name) => [name, name] as const)]}
          choose={(name) => change({ focus: name === '' ? null : name })}
        />
      )}
      {!isLines && canBeMap && <YearsToCome picture={picture} />}
      <Places picture={whole} look={look} change={change} />
      {isLines && !isOverTime && <Years years={years} year={look.year} choose={(year) => change({ year })} />}
      {isLines && isOverTime && (
        <>
          <Choice
            label="Values"
            value={look.measure}
            options={Object.entries(MEASURES)}
            choose={(measure) => change({ measure: measure as Look['measure'] })}
          />
          {look.measure !== 'value' && (
            <Choice
              label="Base year"
              value={String(baseYearOf(picture, look.base) ?? '')}
              options={years.map((year) => [String(year), String(year)])}
              choose={(base) => change({ base: Number(base) })}
            />
          )}
          {scales.length > 1 && (
            <Choice
              label="Scale"
              value={look.isLog ? 'log' : (look.axis ?? 'linear')}
              options={scales}
              choose={(scale) =>
                change({ isLog: scale === 'log', axis: scale === 'zero' || scale === 'data' ? scale : null })
              }
            />
          )}
          {shown === 'small-pictures' && (
            <Choice
              label="Each"
              value={look.isShared ? 'shared' : 'own'}
              options={[
                ['own', 'on its own scale'],
                ['shared', 'on one scale for all'],
              ]}
              choose={(scale) => change({ isShared: scale === 'shared' })}
            />
          )}
        </>
      )}
    </div>
  );
}
