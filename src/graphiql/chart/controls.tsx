import type { Look } from '../looks.ts';
import { baseYearOf, yearsIn } from './measured.ts';
import type { Shown } from './notes.ts';
import { type BarsPicture, type LinesPicture, MAX_COLOURED } from './picture.ts';

const KINDS: Readonly<Record<string, string>> = {
  lines: 'Lines',
  multiples: 'Small pictures',
  bars: 'Ranking',
  map: 'Map',
};

const MEASURES: Readonly<Record<Look['measure'], string>> = {
  value: 'as they are',
  index: 'index = 100',
  difference: 'difference',
  percent: 'percent',
};

interface ControlsProps {
  readonly picture: LinesPicture | BarsPicture;
  readonly look: Look;
  readonly shown: Shown;
  readonly canBeMap: boolean;
  readonly change: (change: Partial<Look>) => void;
}

/** How a picture is drawn: all of it is made of figures that are there, and takes no call. */
export function Controls({ picture, look, shown, canBeMap, change }: ControlsProps) {
  const isLines = picture.kind === 'lines';
  const kinds = isLines
    ? [
        'lines',
        ...(picture.lines.length > MAX_COLOURED ? ['multiples'] : []),
        'bars',
        ...(canBeMap ? ['map'] : []),
      ]
    : canBeMap
      ? ['map', 'bars']
      : [];
  const isOverTime = shown === 'lines' || shown === 'multiples';
  const years = isLines ? yearsIn(picture) : [];
  const isPositive = isLines && picture.figures.every(({ value }) => value > 0);
  return (
    <div className="controls how">
      {kinds.length > 1 && (
        <Choice
          label="Draw"
          value={shown}
          options={kinds.map((kind) => [kind, KINDS[kind] ?? kind])}
          choose={(kind) => change({ kind })}
        />
      )}
      {isLines && !isOverTime && (
        <Choice
          label="Year"
          value={String(look.year ?? '')}
          options={[
            ['', 'latest'],
            ...years.toReversed().map((year) => [String(year), String(year)] as const),
          ]}
          choose={(year) => change({ year: year === '' ? null : Number(year) })}
        />
      )}
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
          {isPositive && (look.measure === 'value' || look.measure === 'index') && (
            <Choice
              label="Scale"
              value={look.isLog ? 'log' : 'linear'}
              options={[
                ['linear', 'linear'],
                ['log', 'logarithmic'],
              ]}
              choose={(scale) => change({ isLog: scale === 'log' })}
            />
          )}
        </>
      )}
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, title: string])[];
  readonly choose: (value: string) => void;
}

export function Choice({ label, value, options, choose }: ChoiceProps) {
  return (
    <label>
      {label}{' '}
      <select aria-label={label} value={value} onChange={(event) => choose(event.target.value)}>
        {options.map(([option, title]) => (
          <option key={option} value={option}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}
