import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Frequency, type Period, periodIn, periodOf, shiftedPeriod } from '../../src/shared/periods.ts';
import { draws } from '../support/draws.ts';

const two = (number: number) => String(number).padStart(2, '0');
const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
const daysIn = (year: number, month: number) =>
  month === 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;

/** Identity of a period, and all ways to spell it; `~` stands for any separator or none. */
interface Spelled {
  readonly frequency: Frequency;
  readonly key: string;
  readonly spellings: readonly string[];
}

function year(y: number): Spelled {
  const spellings = [`${y}`, `${y}A`, `${y}~A1`, `A1~${y}`, `${y}-01-01/${y}-12-31`, `${y}-01/${y}-12`];
  return { frequency: 'year', key: `${y}`, spellings: [...spellings, `${y}-Q1 to ${y}-Q4`] };
}

function fiscalYear(y: number): Spelled {
  const [from, to] = [y - 1, two(y % 100)];
  const pairs = [`${from}/${to}`, `${from}/${y}`, `${from}-${y}`, `FY${from}/${to}`, `FY ${from}-${to}`];
  const short = Number(to) > 12 || Number(to) === 0 ? [`${from}-${to}`] : [];
  return { frequency: 'year', key: `FY${y}`, spellings: [...pairs, ...short, `FY${y}`, `FY ${y}`] };
}

function part(y: number, n: number, units: readonly string[], frequency: Frequency, name: string): Spelled {
  const spellings = units.flatMap((unit) => [
    ...[`${y}~${unit}${n}`, `${unit}${n}~${y}`, `${y}~${unit}${two(n)}`, `${unit}${two(n)}/${y}`],
  ]);
  return { frequency, key: `${y}-${name}`, spellings };
}

function quarter(y: number, n: number): Spelled {
  const { key, frequency, spellings } = part(y, n, ['Q'], 'quarter', `Q${n}`);
  const from = `${y}-${two(n * 3 - 2)}`;
  const days = [`${from}-01/${y}-${two(n * 3)}-${daysIn(y, n * 3)}`, `${from}/${y}-${two(n * 3)}`];
  return { key, frequency, spellings: [...spellings, ...days] };
}

function month(y: number, m: number): Spelled {
  const { key, frequency, spellings } = part(y, m, ['M'], 'month', two(m));
  const days = `${y}-${two(m)}-01..${y}-${two(m)}-${daysIn(y, m)}`;
  return { frequency, key, spellings: [...spellings, `${y}-${two(m)}`, days] };
}

function day(y: number, m: number, d: number): Spelled {
  const key = `${y}-${two(m)}-${two(d)}`;
  const spellings = [key, `${y}${two(m)}${two(d)}`, `${y}/${two(m)}/${two(d)}`];
  const timed = ['T00:00:00Z', ' 12:30', 'T06:00:00.123456Z', 't06:00:00+03:00', 'T0600'].map(
    (time) => key + time,
  );
  return { frequency: 'day', key, spellings: [...spellings, ...timed] };
}

const years = fc.integer({ min: 1950, max: 2049 });

const spelled: fc.Arbitrary<Spelled> = fc.oneof(
  years.map(year),
  years.map(fiscalYear),
  fc.tuple(years, fc.integer({ min: 1, max: 2 })).map(([y, n]) => part(y, n, ['H', 'S'], 'half', `H${n}`)),
  fc.tuple(years, fc.integer({ min: 1, max: 4 })).map(([y, n]) => quarter(y, n)),
  fc.tuple(years, fc.integer({ min: 1, max: 12 })).map(([y, m]) => month(y, m)),
  fc.tuple(years, fc.integer({ min: 1, max: 52 })).map(([y, w]) => part(y, w, ['W'], 'week', `W${two(w)}`)),
  fc
    .tuple(years, fc.integer({ min: 1, max: 12 }), fc.nat(27))
    .map(([y, m, d]) => day(y, m, (d % daysIn(y, m)) + 1)),
);

const written = spelled.chain((of) =>
  fc
    .record({
      spelling: fc.constantFrom(...of.spellings),
      separator: fc.constantFrom('', '-', ' ', '\u2013', '\u2011'),
      casing: fc.constantFrom('as it is', 'upper', 'lower'),
      space: fc.constantFrom('', ' ', '\t'),
    })
    .map(({ spelling, separator, casing, space }) => {
      const text = space + spelling.replaceAll('~', separator) + space;
      return {
        of,
        text: casing === 'upper' ? text.toUpperCase() : casing === 'lower' ? text.toLowerCase() : text,
      };
    }),
);

describe('periods', () => {
  it('periods are read as what they are, however they are spelt', () => {
    fc.assert(
      fc.property(written, ({ of, text }) => {
        const { key, frequency } = periodIn(text) ?? {};
        expect({ text, key, frequency }).toEqual({ text, key: of.key, frequency: of.frequency });
      }),
      { numRuns: draws(20_000) },
    );
  });

  it.for([
    ['2024', 'year', '2024-01-01', '2024-12-31'],
    ['2024-S2', 'half', '2024-07-01', '2024-12-31'],
    ['2024-Q1', 'quarter', '2024-01-01', '2024-03-31'],
    ['2024-02', 'month', '2024-02-01', '2024-02-29'],
    ['1900M02', 'month', '1900-02-01', '1900-02-28'],
    ['2024-W01', 'week', '2024-01-01', '2024-01-07'],
    ['2020-W53', 'week', '2020-12-28', '2021-01-03'],
    ['2023/24', 'year', '2023-07-01', '2024-06-30'],
    ['1999/00', 'year', '1999-07-01', '2000-06-30'],
    ['2020-2024', 'span', '2020-01-01', '2024-12-31'],
    ['2023..2024', 'span', '2023-01-01', '2024-12-31'],
    ['2024-01-29/2024-02-04', 'span', '2024-01-29', '2024-02-04'],
    ['2024-Q1/2024-Q3', 'span', '2024-01-01', '2024-09-30'],
    ['2024-07-01/2025-06-30', 'span', '2024-07-01', '2025-06-30'],
    ['2024-01-01/2024-04-30', 'span', '2024-01-01', '2024-04-30'],
    ['0001', 'year', '0001-01-01', '0001-12-31'],
  ] as const)('the period %s is a %s from %s to %s', ([text, frequency, firstDay, lastDay]) => {
    expect(periodIn(text)).toMatchObject({ frequency, firstDay, lastDay });
  });

  it.for([
    ...[
      '',
      ' ',
      'annual',
      'Q3',
      '24',
      'n/a',
      '2024-13',
      '2024-00',
      '2024Q5',
      '2024Q0',
      '2024-02-30',
      '2023-02-29',
    ],
    ...[
      '2024-W54',
      '2024-W53',
      '2024-S3',
      '2024-T1',
      '2024-B1',
      '2024-W05-3',
      '2023/24 Q1',
      '2024-D000',
      '2023-D366',
      '2024-12-31T25:00',
    ],
    ...['05/06/2024', '13/13/2024', '2024-', '-2024', '2024.1', '20244', '2024Q3 x', '2024-06-30/2024-01-01'],
    ...['2024-12/2024-01', '2024/2024-06', '2024-01-01/P1M', '12345678901', '9999-W52', 'FY0000', '9999/00'],
    // Spellings of ours and of others that no rule reads.
    ...[
      'Sep 2024',
      '1 September 2024',
      '3Q2024',
      '2024K3',
      '2024U05',
      '202409',
      '09/2024',
      '2024/09',
      '2024-D245',
    ],
    ...['31/12/2024', '2024_Q3', '2024-9', 'fiscal year 2024'],
  ])('the text %s is no period', (text) => expect(periodIn(text)).toBeNull());

  it('periods of a calendar and of a fiscal year are two', () => {
    expect(periodIn('2024')?.key).not.toBe(periodIn('FY2024')?.key);
  });

  it('periods take the year of their row where they name none', () => {
    const keyOf = (period: string | null, ofYear: number | null = 2024) =>
      periodOf({ year: ofYear, period })?.key;
    expect(['annual', 'Yearly', ' year ', null].map((text) => keyOf(text))).toEqual(Array(4).fill('2024'));
    expect(['Q3', 'h1', ' M09 ', 'W05'].map((text) => keyOf(text))).toEqual(
      ['Q3', 'H1', '09', 'W05'].map((text) => `2024-${text}`),
    );
    // A year of its own is that.
    expect(keyOf('2023Q4')).toBe('2023-Q4');
    expect(['monthly', '3', '', 'Q9', 'Sep', 'x'.repeat(1_000)].map((text) => keyOf(text))).toEqual(
      Array(6).fill(undefined),
    );
    expect(keyOf('annual', null)).toBeUndefined();
  });

  it('periods are found again by their name', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          written.map(({ text }) => text),
          fc.constantFrom('2024-01-01/2024-02-29', '2020-2024'),
        ),
        (text) => {
          const read = periodIn(text);
          expect(periodIn(read?.key ?? '')).toEqual(read);
        },
      ),
    );
  });

  it('periods lie as far apart as their years do', () => {
    fc.assert(
      fc.property(written, fc.integer({ min: -40, max: 40 }), ({ text }, later) => {
        const read = periodIn(text) as Period;
        const shifted = shiftedPeriod(read, later);
        const isRare = read.key.endsWith('-W53') || read.key.endsWith('-02-29');
        if (shifted === null) {
          expect(isRare).toBe(true);
          return;
        }
        expect(shifted.frequency).toBe(read.frequency);
        expect(shiftedPeriod(shifted, -later)).toEqual(read);
        expect(shifted.firstDay > read.firstDay).toBe(later > 0);
      }),
    );
    const shifted = (text: string, later: number) =>
      shiftedPeriod(periodIn(text) as Period, later)?.key ?? null;
    expect(shifted('2024-Q3', -1)).toBe('2023-Q3');
    expect(shifted('2024-02', -1)).toBe('2023-02');
    expect(shifted('2024-01/2024-02', -1)).toBe('2023-01-01/2023-02-28');
    expect(shifted('2023-01/2023-02', 1)).toBe('2024-01-01/2024-02-29');
    expect(shifted('2024-02-29', -1)).toBeNull();
    expect(shifted('2020-W53', -1)).toBeNull();
    expect(shifted('2024', -3_000)).toBeNull();
    expect(shifted('2024', 9_000)).toBeNull();
  });

  it('periods are told from any text, soon', () => {
    const pieces = fc.array(
      fc.constantFrom(
        '2024',
        '24',
        '1',
        'Q',
        'M',
        'W',
        'T',
        'FY',
        'P1M',
        '-',
        '/',
        '..',
        ' to ',
        ' ',
        '00:00',
        'Sep',
        'é',
        '9',
      ),
      { maxLength: 40 },
    );
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      pieces.map((some) => some.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const read = periodIn(text);
        if (read === null) return;
        expect(read.firstDay <= read.lastDay).toBe(true);
        expect(periodIn(read.key)).toEqual(read);
        expect(`${read.firstDay} ${read.lastDay}`).toMatch(/^\d{4}-\d\d-\d\d \d{4}-\d\d-\d\d$/);
      }),
      { numRuns: draws(20_000) },
    );
    expect(periodIn('2'.repeat(10_000_000))).toBeNull();
  });
});
