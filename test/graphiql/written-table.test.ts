import { expect, it } from 'vitest';
import { ranked, writtenTable } from '../../clients/graphiql/src/chart/written-table.ts';

const written = (columns: readonly string[], ...rows: (string | number | null)[][]) => {
  const { textOf, areNumbers } = writtenTable({ columns, rows });
  return { texts: rows.map((row) => columns.map((_, i) => textOf(row, i))), areNumbers };
};

it('numbers of a column have the same decimals, those of each indicator their own', () => {
  expect(
    written(['country', 'value'], ['Kenya', 61.25], ['Chad', 50], ['Mali', null], ['Togo', -1234.5]),
  ).toEqual({
    texts: [
      ['Kenya', '61.25'],
      ['Chad', '50.00'],
      ['Mali', ''],
      ['Togo', '−1,234.50'],
    ],
    areNumbers: [false, true],
  });
  const mixed = written(['indicator', 'value'], ['life', 61.25], ['people', 54_000_000], ['life', 60]);
  expect(mixed.texts.map(([, value]) => value)).toEqual(['61.25', '54,000,000', '60.00']);
});

it('numbers of a column get no row of zeros, and years no decimals', () => {
  expect(written(['value'], [0.123456789], [2]).texts).toEqual([['0.123456789'], ['2']]);
  expect(written(['value'], [1e-12], [2.5]).texts).toEqual([['1e−12'], ['2.5']]);
  expect(written(['year', 'base.year'], [2020, 1990]).texts).toEqual([['2020', '1990']]);
});

it('a ranking has ranks, equal values the same', () => {
  const table = {
    columns: ['country', 'value'],
    rows: [
      ['Chad', 1],
      ['Mali', 3],
      ['Togo', 3],
      ['Niger', 2],
    ],
  };
  expect(ranked(table)).toEqual({
    columns: ['rank', 'country', 'value'],
    rows: [
      [1, 'Mali', 3],
      [1, 'Togo', 3],
      [3, 'Niger', 2],
      [4, 'Chad', 1],
    ],
  });
});
