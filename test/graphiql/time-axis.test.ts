import { describe, expect, it } from 'vitest';
import type { Figure } from '../../clients/graphiql/src/chart/figures.ts';
import { momentOf } from '../../clients/graphiql/src/chart/picture.ts';
import { endNames, timeTicks } from '../../clients/graphiql/src/chart/time-axis.ts';

const DAY_MS = 86_400_000;

const pointsOf = (periods: readonly string[]) =>
  periods.map((period) => {
    const figure = { year: Number(period.slice(0, 4)), period } as Figure;
    return { at: momentOf(figure), figure };
  });

const days = (from: string, count: number, apart = 1) =>
  Array.from({ length: count }, (_, i) =>
    new Date(Date.parse(from) + i * apart * DAY_MS).toISOString().slice(0, 10),
  );
const parts = (letter: string, count: number, most: number, from: number) =>
  Array.from({ length: count }, (_, i) => {
    const part = String((i % most) + 1).padStart(letter === 'W' || letter === '' ? 2 : 1, '0');
    return `${from + Math.floor(i / most)}-${letter}${part}`;
  });

/** Figures of each kind, the form of its labels, and whether they are of the figures' own moments. */
const KINDS: Record<string, { readonly periods: string[]; readonly form: RegExp }> = {
  'four days over the end of a month': { periods: days('2024-01-29', 4), form: /^2024-0[12]-\d\d$/ },
  'two days': { periods: days('2023-12-31', 2), form: /^\d{4}-\d\d-\d\d$/ },
  'a fortnight': { periods: days('2024-03-05', 14), form: /^2024-03-\d\d$/ },
  'ninety days': { periods: days('2024-01-01', 90), form: /^2024-\d\d-\d\d$/ },
  'a year of days': { periods: days('2023-01-01', 365), form: /^2023-\d\d-\d\d$/ },
  'days as they come': { periods: ['2024-01-02', '2024-01-03', '2024-04-30'], form: /^2024-\d\d-\d\d$/ },
  'five years of days': { periods: days('2019-01-01', 1_826), form: /^\d{4}(?:-\d\d)?$/ },
  'six weeks': {
    periods: ['10', '11', '12', '13', '14', '15'].map((n) => `2024-W${n}`),
    form: /^2024-W\d\d$/,
  },
  'a year of weeks': { periods: parts('W', 52, 52, 2024), form: /^2024-W\d\d$/ },
  'weeks and days': { periods: ['2024-W10', '2024-03-13', '2024-W12'], form: /^2024-03-\d\d$/ },
  'three months': { periods: parts('', 3, 12, 2024), form: /^2024(?:-0[23])?$/ },
  'three years of months': { periods: parts('', 36, 12, 2022), form: /^\d{4}(?:-\d\d)?$/ },
  'three quarters': { periods: ['2023-Q4', '2024-Q1', '2024-Q2'], form: /^\d{4}(?: Q[2-4])?$/ },
  'five years of quarters': { periods: parts('Q', 20, 4, 2019), form: /^\d{4}(?: Q[2-4])?$/ },
  'three halves': { periods: parts('H', 3, 2, 2023), form: /^\d{4}(?: H2)?$/ },
  'twelve years': { periods: Array.from({ length: 12 }, (_, i) => String(2010 + i)), form: /^\d{4}$/ },
  'two fiscal years': { periods: ['2022/23', '2023/24'], form: /^\d{4}$/ },
};

describe.each(Object.entries(KINDS))('an axis of %s', (_, { periods, form }) => {
  const points = pointsOf(periods);

  it.each([120, 200, 400, 900])(
    'an axis of time has two labels or more of its kind, none twice, at %d pixels',
    (room) => {
      const { ticks, labelOf, domain } = timeTicks(points, room);
      const labels = ticks.map(labelOf);
      expect(labels.length).toBeGreaterThan(1);
      expect(new Set(labels).size).toBe(labels.length);
      for (const label of labels) expect(label).toMatch(form);
      for (const tick of ticks) {
        expect(tick).toBeGreaterThanOrEqual(domain[0] - 1e-6);
        expect(tick).toBeLessThanOrEqual(domain[1] + 1e-6);
      }
    },
  );

  it('an axis of time is named at its ends in a small picture, differently', () => {
    const [first, last] = endNames(points, 120);
    expect(first).not.toBe(last);
    expect([first, last].join()).not.toContain('undefined');
  });
});

describe('labels', () => {
  const at = (periods: readonly string[], room: number) => {
    const { ticks, labelOf } = timeTicks(pointsOf(periods), room);
    return ticks.map(labelOf);
  };

  it('labels of days and weeks stand at figures, with room between them', () => {
    expect(at(days('2024-01-29', 4), 700)).toEqual(['2024-01-29', '2024-01-30', '2024-01-31', '2024-02-01']);
    expect(at(days('2024-03-05', 14), 240)).toEqual(['2024-03-05', '2024-03-10', '2024-03-15']);
    expect(at(['2024-W10', '2024-W12', '2024-W13'], 120)).toEqual(['2024-W10', '2024-W13']);
  });

  it('labels of months and quarters are round', () => {
    expect(at(parts('', 13, 12, 2023), 320)).toEqual(['2023', '2023-04', '2023-07', '2023-10', '2024']);
    expect(at(parts('Q', 7, 4, 2023), 500)).toEqual([
      '2023',
      '2023 Q2',
      '2023 Q3',
      '2023 Q4',
      '2024',
      '2024 Q2',
      '2024 Q3',
    ]);
    expect(at(['2023-Q4', '2024-Q1', '2024-Q2'], 130)).toEqual(['2023 Q4', '2024 Q2']);
  });

  it('labels of years are as many as there is room for', () => {
    const years = Array.from({ length: 76 }, (_, i) => String(1950 + i));
    expect(at(years, 496)).toEqual(['1960', '1980', '2000', '2020']);
  });

  it('labels of the ends of a small picture share a year where there is little room', () => {
    const points = pointsOf(days('2024-03-05', 14));
    expect(endNames(points, 120)).toEqual(['2024-03-05', '03-18']);
    expect(endNames(points, 400)).toEqual(['2024-03-05', '2024-03-18']);
    expect(endNames(pointsOf(['2023-Q4', '2024-Q2']), 120)).toEqual(['2023 Q4', '2024 Q2']);
    expect(endNames(pointsOf(['2020', '2024']), 120)).toEqual(['2020', '2024']);
  });
});
