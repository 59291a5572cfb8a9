import { describe, expect, it } from 'vitest';
import { figuresIn } from '../../clients/graphiql/src/chart/figures.ts';
import type { Shown } from '../../clients/graphiql/src/chart/notes.ts';
import { picturesOf } from '../../clients/graphiql/src/chart/picture.ts';
import type { Look } from '../../clients/graphiql/src/chart/plain-look.ts';
import { PLAIN } from '../../clients/graphiql/src/chart/plain-look.ts';
import { drawnOf, inWords, shownAs } from '../../clients/graphiql/src/chart/shown.ts';
import { storyOf } from '../../clients/graphiql/src/chart/story.ts';

type Rows = Readonly<Record<string, readonly (readonly [year: number, value: number, period?: string])[]>>;

const QUERY =
  '{ countries { name observations(metricKeys: ["life"]) { year period value unit indicator { key name } } } }';

function told(rows: Rows, look: Partial<Look> = {}, unit = 'years') {
  const indicator = { key: 'life', name: 'Life' };
  const data = {
    countries: Object.entries(rows).map(([name, points]) => ({
      name,
      observations: points.map(([year, value, period = null]) => ({ year, period, value, unit, indicator })),
    })),
  };
  const [whole] = picturesOf(figuresIn(QUERY, {}, undefined, data));
  if (whole === undefined) throw new Error('There is no picture.');
  const shown: Shown = shownAs(whole, { ...PLAIN, ...look }, false);
  return { picture: drawnOf(whole, shown, { ...PLAIN, ...look }), shown };
}

function storyFor(...given: Parameters<typeof told>): string {
  const { picture, shown } = told(...given);
  return storyOf(picture, shown);
}

const KENYA = [
  [2000, 50],
  [2001, 52],
  [2002, 60.1],
] as const;

describe('a picture in words', () => {
  it.for<[string, Rows, Partial<Look>, string]>([
    [
      'of two lines, over the years that both have',
      {
        Kenya: KENYA,
        Ghana: [
          [1999, 40],
          [2000, 55],
          [2001, 51],
          [2002, 58],
          [2003, 70],
        ],
      },
      {},
      'In 2002, the last that all have, Kenya is highest (since 2001) with 60.1 years, Ghana lowest (since 2001) with 58: 2.1 less. Since 2000, Kenya has risen the most, by 10.1.',
    ],
    [
      'of lines of which one falls',
      {
        Kenya: KENYA,
        Mali: [
          [2000, 49],
          [2002, 45],
        ],
      },
      {},
      'In 2002, Kenya is highest (since 2000) with 60.1 years, Mali lowest (since 2000) with 45: 15.1 less. Since 2000, Kenya has risen the most, by 10.1, and Mali has fallen the most, by 4.',
    ],
    [
      'of lines that have no year in common',
      {
        Kenya: KENYA,
        Mali: [
          [1990, 49],
          [1991, 45],
        ],
      },
      {},
      'Kenya is highest with 60.1 years in 2002, Mali lowest with 45 in 1991: 15.1 less.',
    ],
    [
      'of one line',
      { Kenya: [...KENYA, [2003, 48]] },
      {},
      'Kenya: 48 years in 2003, 2 less than in 2000. Highest in 2002 (60.1), lowest in 2003 (48).',
    ],
    [
      'of a ranking',
      { Kenya: KENYA, Mali: KENYA.map(([year, value]) => [year, value + 1] as const) },
      { kind: 'ranking', year: 2001 },
      'In 2001, Mali is highest with 53 years, Kenya lowest with 52: 1 less.',
    ],
    [
      'of latest figures of two years',
      { Kenya: [[2001, 5]], Mali: [[2003, -5]] },
      {},
      'Kenya is highest with 5 years in 2001, Mali lowest with −5 in 2003: 10 less.',
    ],
    [
      'of days',
      { Kenya: [[2025, 3, '2025-06-30']], Mali: [[2025, 2, '2025-06-30']] },
      {},
      'On 2025-06-30, Kenya is highest with 3 years, Mali lowest with 2: 1 less.',
    ],
    [
      'of days of one line',
      {
        Kenya: [
          [2025, 3, '2025-06-30'],
          [2025, 4, '2025-07-01'],
        ],
      },
      {},
      'Kenya: 4 years on 2025-07-01, 1 more than on 2025-06-30. Highest on 2025-07-01 (4), lowest on 2025-06-30 (3).',
    ],
    ['of equal figures', { Kenya: [[2001, 5]], Mali: [[2001, 5]] }, {}, 'In 2001, all have 5 years.'],
    [
      'of quarters',
      {
        Kenya: [
          [2024, 1, '2024-Q1'],
          [2024, 3, '2024-Q2'],
        ],
        Mali: [
          [2024, 2, '2024-Q1'],
          [2024, 2, '2024-Q2'],
        ],
      },
      {},
      'In 2024-Q2, Kenya is highest with 3 years, Mali lowest with 2: 1 less. Since 2024-Q1, Kenya has risen the most, by 2.',
    ],
  ])('a picture in words %s', ([, rows, look, words]) => {
    expect(storyFor(rows, look)).toBe(words);
  });

  it('a picture in words tells what is measured, such as an index', () => {
    const rows = { Kenya: KENYA, Mali: [[2000, 10] as const, [2002, 30] as const] };
    expect(storyFor(rows, { measure: 'index' })).toContain(
      'Mali is highest (since 2000) with 300 (index, 2000 = 100)',
    );
  });

  it('a picture in words tells its story before its parts, to whoever does not see it', () => {
    const { picture, shown } = told({ Kenya: KENYA });
    if (picture.kind === 'values') throw new Error('It is a table.');
    expect(inWords(picture, shown)).toBe(`Life, Kenya, years. ${storyOf(picture, shown)} 1 line, 3 figures.`);
  });
});
