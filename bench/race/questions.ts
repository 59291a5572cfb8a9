import { countries } from '../../src/sandbox/catalogue/countries.ts';
import { Dice } from '../../test/execution/dice.ts';

/** Subject of an operation of the race. Each row takes of it as much as it has a place for. */
export interface Question {
  readonly country: string;
  /** Ten of them, in the order of the alphabet. */
  readonly countries: readonly string[];
  /** Three of them. */
  readonly metrics: readonly string[];
}

/** Asked by the first connection, and by all if nothing is drawn. */
export const FIRST_QUESTION: Question = {
  country: 'KE',
  countries: ['AO', 'EG', 'ET', 'GH', 'KE', 'MA', 'NG', 'RW', 'TZ', 'ZA'],
  metrics: ['population_total', 'life_expectancy', 'gdp_current_usd'],
};

/** Metrics with a latest figure for each country. */
const WHOLE = ['population_total', 'life_expectancy', 'gdp_current_usd', 'gdp_per_capita_current_usd'];

/** Metrics with one for nearly each, so that all questions cost about the same. */
const METRICS = [
  ...WHOLE,
  'population_growth_pct',
  'urban_population_pct',
  'median_age_years',
  'population_under_15_pct',
];

const CODES = countries.map(({ code }) => code.toUpperCase()).sort();

const SEED = 20_261_125;

/** Questions of which no two want the same figure of the same country, or the same metrics; the first is always the same. */
export function drawQuestions(count: number, seed = SEED): Question[] {
  const dice = new Dice(seed);
  const questions = [FIRST_QUESTION];
  const taken = new Set(marksOf(FIRST_QUESTION));
  while (questions.length < count) {
    const first = dice.pick(WHOLE);
    const question: Question = {
      country: dice.pick(CODES),
      countries: some(dice, CODES, 10).sort(),
      metrics: [first, ...some(dice, METRICS, 2, first)],
    };
    const marks = marksOf(question);
    if (marks.some((mark) => taken.has(mark))) continue;
    for (const mark of marks) taken.add(mark);
    questions.push(question);
  }
  return questions.slice(0, count);
}

const marksOf = ({ country, metrics }: Question) => [
  `${country} ${metrics[0]}`,
  metrics.toSorted().join(' '),
];

function some(dice: Dice, all: readonly string[], count: number, except = ''): string[] {
  const chosen = new Set<string>();
  while (chosen.size < count) {
    const one = dice.pick(all);
    if (one !== except) chosen.add(one);
  }
  return [...chosen];
}
