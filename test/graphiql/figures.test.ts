import { describe, expect, it } from 'vitest';
import { csvOf, readableTableOf, tableOf, wideTableOf } from '../../clients/graphiql/src/chart/csv.ts';
import { type Figure, figuresIn } from '../../clients/graphiql/src/chart/figures.ts';
import { coloured, momentOf, picturesOf } from '../../clients/graphiql/src/chart/picture.ts';
import { openProgram } from '../support/program.ts';

const FIGURE: Figure = {
  country: 'KE',
  countryName: 'Kenya',
  indicator: 'population_total',
  indicatorName: 'population_total',
  year: 2024,
  period: null,
  place: null,
  isNational: true,
  value: 1,
  unit: 'persons',
  source: null,
  origin: null,
  status: null,
  isModelled: false,
  low: null,
  high: null,
  release: null,
  retrievedAt: null,
  isStale: false,
};

describe('figures in a response', () => {
  it.for<[string, string, object, [country: string, indicator: string][]]>([
    [
      'below a country, under an alias',
      '{ nation: country(code: "ke") { code people: observation(metricKey: "population_total") { value } } }',
      {},
      [['KE', 'population_total']],
    ],
    [
      'below a country whose code was not asked for',
      '{ country(code: "ke") { observation(metricKey: "population_total") { v: value } } }',
      {},
      [['KE', 'population_total']],
    ],
    [
      'below a list of countries, with their names alone',
      '{ countries(codes: ["KE", "NG"]) { name observation(metricKey: "population_total") { value } } }',
      {},
      [
        ['KE', 'population_total'],
        ['NG', 'population_total'],
      ],
    ],
    [
      'below an indicator, by variables and their defaults',
      'query A($code: CountryCode = "KE", $key: String!) { indicator(key: $key) { observation(countryCode: $code) { value } } }',
      { key: 'population_total' },
      [['KE', 'population_total']],
    ],
    [
      'at the root, that say themselves whose they are',
      '{ observations(countryCodes: ["KE", "NG"], metricKeys: ["population_total", "life_expectancy"], latest: true) { ...F } } fragment F on Observation { value country { code } ... on Observation { indicator { key } } }',
      {},
      [
        ['KE', 'population_total'],
        ['KE', 'life_expectancy'],
        ['NG', 'population_total'],
        ['NG', 'life_expectancy'],
      ],
    ],
    [
      'of an indicator below them',
      '{ tickers(exchangeCode: "RSE") { country { code observation(metricKey: "population_total") { value } } } }',
      {},
      [['RW', 'population_total']],
    ],
    [
      'without a value',
      '{ country(code: "KE") { observation(metricKey: "population_total") { year } } }',
      {},
      [],
    ],
    ['none', '{ countries { name } }', {}, []],
  ])('figures in a response are found: %s', async ([, query, variables, expected]) => {
    await using program = await openProgram();
    const { data, errors } = await program.ask(query, { variables: variables as never });
    expect(errors).toEqual([]);
    const found = figuresIn(query, variables as never, undefined, data);
    const named = found.map(({ country, indicator }) => [country, indicator]);
    expect([...new Set(named.map((name) => JSON.stringify(name)))].map((name) => JSON.parse(name))).toEqual(
      expected,
    );
  });

  it('figures in a response are none where the operation or the answer is broken', () => {
    expect(figuresIn('{', {}, undefined, { country: {} })).toEqual([]);
    expect(figuresIn('{ country { observation { value } } }', {}, undefined, null)).toEqual([]);
    expect(
      figuresIn('{ country { observation { value } } }', {}, undefined, { country: { observation: 7 } }),
    ).toEqual([]);
  });
});

describe('pictures', () => {
  const years = (values: readonly number[], further: Partial<Figure> = {}) =>
    values.map((year) => ({ ...FIGURE, year, ...further }));

  it('pictures are lines where figures have different times, and leave gaps', () => {
    const [picture] = picturesOf([
      ...years([2000, 2001, 2004]),
      ...years([2000, 2001], { country: 'NG', countryName: 'Nigeria' }),
    ]);
    if (picture?.kind !== 'lines') throw new Error('There are no lines.');
    expect(picture.lines.map(({ name }) => name)).toEqual(['Kenya', 'Nigeria']);
    expect(picture.lines[0]?.points.map(({ at, value }) => [at, value])).toEqual([
      [2000, 1],
      [2001, 1],
      [2002, null],
      [2004, 1],
    ]);
  });

  it.for([
    ['quarters', ['2023-Q1', '2023-Q2', '2023-Q4', '2024-Q1'], [2023, 2023.25, 2023.5, 2023.75, 2024]],
    ['months', ['2023-11', '2023-12', '2024-02'], [2023 + 10 / 12, 2023 + 11 / 12, 2024, 2024 + 1 / 12]],
  ] as const)('pictures leave gaps where %s are missing', ([, periods, expected]) => {
    const rows = periods.map((period) => ({ ...FIGURE, year: Number(period.slice(0, 4)), period }));
    const [picture] = picturesOf(rows);
    if (picture?.kind !== 'lines') throw new Error('There are no lines.');
    const points = picture.lines[0]?.points ?? [];
    expect(points).toHaveLength(expected.length);
    for (const [i, { at }] of points.entries()) expect(at).toBeCloseTo(expected[i] ?? 0, 5);
    expect(points.filter(({ value }) => value === null)).toHaveLength(1);
  });

  const countries = (count: number, further: Partial<Figure> = {}) =>
    Array.from({ length: count }, (_, i) => ({ ...FIGURE, country: `C${i}`, value: i, ...further }));

  it('pictures are bars where figures have one time, from the highest down, and a map where there are many countries', () => {
    const figures = countries(12);
    const [map] = picturesOf(figures);
    if (map?.kind !== 'bars') throw new Error('There are no bars.');
    expect(map.map).toHaveLength(12);
    expect(map.figures.map(({ value }) => value)).toEqual(figures.map(({ value }) => value).reverse());
    expect(picturesOf(figures.slice(0, 3))).toMatchObject([{ kind: 'bars', map: null }]);
  });

  it('pictures never show the figure of a place, or what may be one, for that of the nation', () => {
    const places = countries(12, { place: 'Eastern Region', isNational: false });
    expect(picturesOf(places)).toMatchObject([{ kind: 'bars', map: null }]);
    expect(picturesOf(places.map((figure) => ({ ...figure, place: null })))).toMatchObject([{ map: null }]);
    const [picture] = picturesOf([...countries(12), ...places]);
    if (picture?.kind !== 'bars') throw new Error('There are no bars.');
    expect(picture.bars).toHaveLength(24);
    expect(picture.map?.every(({ place }) => place === null)).toBe(true);
  });

  it('pictures are one table where each would be a single bar', () => {
    const figures = Array.from({ length: 184 }, (_, i) => ({
      ...FIGURE,
      indicator: `i${i}`,
      unit: `u${i % 9}`,
    }));
    expect(picturesOf(figures)).toMatchObject([{ kind: 'values', title: 'Kenya: single figures' }]);
    const pairs = figures.flatMap((figure) => [figure, { ...figure, country: 'NG', countryName: 'Nigeria' }]);
    expect(picturesOf(pairs)).toMatchObject([{ kind: 'values', title: 'Single figures' }]);
  });

  it('pictures give eight lines a colour, those with the highest last figures, unless others are chosen', () => {
    const [picture] = picturesOf(
      countries(20).flatMap((one) =>
        [one, { ...one, year: 2020 }].map((figure) => ({ ...figure, countryName: figure.country })),
      ),
    );
    if (picture?.kind !== 'lines') throw new Error('There are no lines.');
    const names = (chosen: string[]) => coloured(picture, chosen).top.map(({ name }) => name);
    expect(names([])).toEqual(['C19', 'C18', 'C17', 'C16', 'C15', 'C14', 'C13', 'C12']);
    expect(names(['C3'])).toEqual(['C19', 'C18', 'C17', 'C16', 'C15', 'C14', 'C13', 'C3']);
    expect(coloured(picture, []).rest).toHaveLength(12);
  });

  it('pictures never put two units on one axis', () => {
    const pictures = picturesOf([
      ...years([2000, 2001]),
      ...years([2000, 2001], { indicator: 'gdp', unit: 'US dollars' }),
    ]);
    expect(pictures.map(({ kind, unit }) => [kind, unit])).toEqual([
      ['lines', 'persons'],
      ['lines', 'US dollars'],
    ]);
  });

  it('pictures show a figure once that stands in several places of a response', () => {
    const told = { ...FIGURE, source: 'first', release: '2025' };
    expect(picturesOf([FIGURE, { ...FIGURE }])).toMatchObject([{ figures: [FIGURE] }]);
    expect(picturesOf([FIGURE, told, told, FIGURE])).toMatchObject([{ figures: [told] }]);
  });

  const FIRST = { ...FIGURE, source: 'first', release: '2025' };
  const SECOND = { ...FIGURE, source: 'second', value: 2 };
  const linesOf = (figures: readonly Figure[]) => {
    const [picture] = picturesOf(figures);
    if (picture?.kind !== 'lines') throw new Error('There are no lines.');
    return picture.lines.map(({ name, points }) => [name, points.map(({ value }) => value)]);
  };

  it('pictures have a line for each source where two have a figure of one time, in any order of rows', () => {
    const figures = [FIRST, { ...FIRST, year: 2023 }, SECOND, { ...SECOND, year: 2022 }];
    const expected = [
      ['Kenya, first', [1, 1]],
      ['Kenya, second', [2, null, 2]],
    ];
    expect(linesOf(figures)).toEqual(expected);
    expect(linesOf(figures.toReversed()).sort()).toEqual(expected);
    expect(linesOf([...figures, { ...FIRST, year: 2022, release: '2024' }])[0]).toEqual([
      'Kenya, first',
      [1, 1, 1],
    ]);
    expect(linesOf([FIRST, { ...SECOND, year: 2023 }])).toEqual([['Kenya', [2, 1]]]);
  });

  it('pictures have a line for each release of a source, and for what else is told twice', () => {
    const older = { ...FIRST, release: '2024', value: 3 };
    const again = { ...FIRST, value: 4 };
    expect(linesOf([FIRST, { ...FIRST, year: 2023 }, older, again])).toEqual([
      ['Kenya, 2025', [1, 4]],
      ['Kenya, 2025 2', [1]],
      ['Kenya, 2024', [3]],
    ]);
  });

  it('pictures show all figures of one time as bars, named by their sources', () => {
    const [picture] = picturesOf([FIRST, SECOND]);
    if (picture?.kind !== 'bars') throw new Error('There are no bars.');
    expect(picture.bars).toEqual([SECOND, FIRST]);
  });

  it.for([
    ['2024', 2024],
    ['2024-Q3', 2024.5],
    ['2024-07', 2024.5],
    ['2025-06-30', 2024],
    ['annual', 2024],
    ['2024Q3', 2024.5],
    ['Q3 2024', 2024.5],
    ['2024M07', 2024.5],
    ['2024m7', 2024.5],
    ['2024S2', 2024.5],
    ['2024-07-01/2024-09-30', 2024.5],
    ['2023/24', 2024],
    ['2020-2024', 2024],
    ['round two', 2024],
  ] as const)('pictures know when %s is', ([period, moment]) => {
    expect(momentOf({ ...FIGURE, period })).toBeCloseTo(moment, 5);
  });

  it.for([(n: number) => `2024M${n}`, (n: number) => `2024-W${n + 10}`, (n: number) => `Q${n} 2024`])(
    'pictures leave a gap where one of a series is missing',
    (spell) => {
      const [picture] = picturesOf([1, 2, 4].map((n) => ({ ...FIGURE, period: spell(n) })));
      if (picture?.kind !== 'lines') throw new Error('There are no lines.');
      expect(picture.lines[0]?.points.map(({ value }) => value === null)).toEqual([
        false,
        false,
        true,
        false,
      ]);
    },
  );
});

describe('comma-separated values', () => {
  it('comma-separated values are quoted where they must be, and never a formula', () => {
    const csv = csvOf(tableOf([{ ...FIGURE, countryName: 'Congo, "DR"', place: '\n＝1+1', value: -2.5 }]));
    expect(csv.split('\r\n')).toEqual([
      '\ufeffcountry.code,country.name,indicator.key,indicator.name,locationName,year,period,value,unit,estimateLow,estimateHigh,valueStatus,source.key,source.name,datasetVersion,retrievedAt',
      `KE,"Congo, ""DR""",population_total,population_total,"'\n＝1+1",2024,,-2.5,persons,,,,,,,`,
      '',
    ]);
  });

  it('comma-separated values have all columns; a table to read has those that say something', () => {
    const table = readableTableOf([
      FIGURE,
      { ...FIGURE, indicator: 'gdp', indicatorName: 'GDP', unit: 'US dollars' },
    ]);
    expect(table.columns).toEqual(['indicator', 'value', 'unit', 'year', 'key']);
  });

  it('comma-separated values have the time of each figure, where periods alone do not say it', () => {
    const spelt = (period: string) => [2023, 2024].map((year) => ({ ...FIGURE, year, period }));
    expect(readableTableOf(spelt('annual'))).toEqual({
      columns: ['value', 'year'],
      rows: [
        [1, 2023],
        [1, 2024],
      ],
    });
    expect(readableTableOf([...spelt('Q1'), ...spelt('Q2')]).columns).toEqual(['value', 'year', 'period']);
    expect(wideTableOf(spelt('annual')).columns.slice(-2)).toEqual(['2023 annual', '2024 annual']);
  });

  it('comma-separated values have a row for each source by year, where two have a figure of one time', () => {
    const of = (source: string, year: number, value: number) => ({ ...FIGURE, source, year, value });
    const { columns, rows } = wideTableOf([of('b', 2023, 1), of('a', 2023, 2), of('a', 2024, 3)]);
    expect(columns).toEqual([
      'country.name',
      'indicator.name',
      'locationName',
      'unit',
      'source.name',
      'source.key',
      'country.code',
      'indicator.key',
      '2023',
      '2024',
    ]);
    expect(rows.map((row) => [row[4], ...row.slice(-2)])).toEqual([
      ['b', 1, null],
      ['a', 2, 3],
    ]);
    expect(wideTableOf([of('b', 2023, 1), of('a', 2024, 3)]).rows.map((row) => row[4])).toEqual(['a; b']);
  });
});
