import { countries } from '../../src/sandbox/catalogue/countries.ts';
import { Dice } from '../../test/execution/dice.ts';

/** The countries and metrics of an operation. Each row uses those that it needs. */
export interface Question {
  readonly country: string;
  /** Ten, sorted. */
  readonly countries: readonly string[];
  /** Three. */
  readonly metrics: readonly string[];
}

/** That of the first connection, and of all connections if `oneQuestion` is set. */
export const FIRST_QUESTION: Question = {
  country: 'KE',
  countries: ['AO', 'EG', 'ET', 'GH', 'KE', 'MA', 'NG', 'RW', 'TZ', 'ZA'],
  metrics: ['population_total', 'life_expectancy', 'gdp_current_usd'],
};

/** Metrics with a latest figure for every country. */
const COMPLETE = ['population_total', 'life_expectancy', 'gdp_current_usd', 'gdp_per_capita_current_usd'];

/** Metrics with one for nearly every country, so that all questions cost about the same. */
const METRICS = [
  ...COMPLETE,
  'population_growth_pct',
  'urban_population_pct',
  'median_age_years',
  'population_under_15_pct',
];

const CODES = countries.map(({ code }) => code.toUpperCase()).sort();

const SEED = 20_261_125;

/** Draws questions. No two request the same figure of the same country, or the same metrics. `FIRST_QUESTION` is the first. */
export function drawQuestions(count: number, seed = SEED): Question[] {
  const dice = new Dice(seed);
  const questions = [FIRST_QUESTION];
  const taken = new Set(marksOf(FIRST_QUESTION));
  while (questions.length < count) {
    const first = dice.pick(COMPLETE);
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
