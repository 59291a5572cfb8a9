import { Dice } from '../../test/execution/dice.ts';

/** One drawn operation, and the number of its key. */
export interface MixedOperation {
  readonly key: number;
  readonly query: string;
}

export const KEYS = 100;

/** The most popular first. */
const CODES = 'NG ZA KE EG GH ET MA TZ UG RW CI SN DZ AO CM'.split(' ');

/** Metrics with a national row nearly every year, the most popular first. */
export const METRICS = [
  'population_total',
  'life_expectancy',
  'gdp_current_usd',
  'population_growth_pct',
  'urban_population_pct',
  'gdp_per_capita_current_usd',
  'fertility_rate_births_per_woman',
  'median_age_years',
];

/** Draws a rank from 0 by Zipf's law: the second is half as frequent as the first, the third a third. */
function zipf(dice: Dice, count: number): number {
  const total = harmonic(count);
  let left = dice.next() * total;
  for (let rank = 0; rank < count; rank += 1) {
    left -= 1 / (rank + 1);
    if (left < 0) return rank;
  }
  return count - 1;
}

function harmonic(count: number): number {
  let sum = 0;
  for (let rank = 1; rank <= count; rank += 1) sum += 1 / rank;
  return sum;
}

type Draw = (dice: Dice) => string;

const one = (dice: Dice, all: readonly string[]) => all[zipf(dice, all.length)] as string;

function some(dice: Dice, all: readonly string[], count: number): readonly string[] {
  const chosen = new Set<string>();
  while (chosen.size < count) chosen.add(one(dice, all));
  return [...chosen].sort();
}

const latest = (dice: Dice, count: number, fields: string) =>
  some(dice, METRICS, count)
    .map((key, i) => `f${i}: observation(metricKey: "${key}") { ${fields} }`)
    .join(' ');

const card =
  (figures: number, fields = 'value year unit'): Draw =>
  (dice) =>
    `{ country(code: "${one(dice, CODES)}") { code name ${latest(dice, figures, fields)} } }`;

const map =
  (figures: number): Draw =>
  (dice) =>
    `{ countries { code name ${latest(dice, figures, 'value year')} } }`;

const both =
  (figures: number): Draw =>
  (dice) =>
    `{ country(code: "${one(dice, CODES)}") { ${latest(dice, figures, 'value')} } countries { code ${latest(dice, 1, 'value')} } }`;

const rows =
  (
    countries: number,
    metrics: number,
    args: string,
    fields = 'country { code } indicator { key } year value unit',
  ): Draw =>
  (dice) =>
    `{ observations(countryCodes: ${JSON.stringify(some(dice, CODES, countries))}, metricKeys: ${JSON.stringify(some(dice, METRICS, metrics))}, ${args}) { ${fields} } }`;

/** Shapes of operations, the most frequent first. */
const SHAPES: readonly Draw[] = [
  card(1),
  card(6),
  map(1),
  rows(1, 1, 'fromYear: 2000'),
  () => '{ countries { code name } }',
  rows(3, 1, 'fromYear: 1990'),
  card(3, 'value year unit source { key }'),
  rows(5, 4, 'latest: true'),
  map(3),
  both(1),
  rows(2, 2, 'fromYear: 1980, toYear: 2020'),
  rows(10, 1, 'fromYear: 2010'),
  card(8),
  rows(12, 2, 'latest: true', 'country { code name } value year'),
  both(4),
  rows(
    5,
    2,
    'fromYear: 1990',
    'country { code name } indicator { key name unit } year value unit source { key }',
  ),
  map(6),
  rows(1, 8, 'fromYear: 2005'),
  rows(15, 1, 'latest: true', 'country { code } value year unit source { key }'),
  rows(10, 2, 'fromYear: 1990, toYear: 2020'),
];

/** Draws operations: key, shape, countries and metrics, each by Zipf's law. One seed always gives the same ones. */
export function drawOperations(count: number, seed: number): MixedOperation[] {
  const dice = new Dice(seed);
  return Array.from({ length: count }, () => {
    const key = zipf(dice, KEYS);
    const draw = SHAPES[zipf(dice, SHAPES.length)] as Draw;
    return { key, query: draw(dice) };
  });
}
