import { describe, expect, it } from 'vitest';
import { openProgram, type ProgramOptions } from '../support/program.ts';

const CODES = ['AO', 'EG', 'ET', 'GH', 'KE', 'MA', 'NG', 'RW', 'TZ', 'ZA'];
const KEYS = ['life_expectancy', 'population_total'];

interface Asked {
  readonly years?: string;
  readonly codes?: readonly string[];
  readonly fields?: string;
}

const series = ({ years = '', codes = CODES, fields = 'year value country { code }' }: Asked = {}) =>
  `{ observations(countryCodes: ${JSON.stringify(codes)}, metricKeys: ${JSON.stringify(KEYS)} ${years}) { ${fields} } }`;

const RANGE = 'fromYear: 1990, toYear: 2024';

async function open(options: ProgramOptions = {}) {
  const program = await openProgram({ ...options, env: { CACHE_URL: 'memory:', ...options.env } });
  return Object.assign(program, {
    /** The years of an answer in order, each once, and the calls that it took. */
    async years(query: string) {
      program.requests();
      const { data, errors, upstream } = await program.ask(query);
      expect(errors).toEqual([]);
      const years = [...new Set<number>(data.observations.map(({ year }: { year: number }) => year))];
      years.sort((a, b) => a - b);
      const calls = program.requests();
      expect(upstream.calls).toBe(calls.length);
      return { first: years[0], last: years.at(-1), rows: data.observations.length, calls: calls.length };
    },
  });
}

describe.each(['memory:', 'sqlite:'])('a range of years that is held in %s', (store) => {
  const env = { CACHE_URL: store === 'memory:' ? store : 'sqlite::memory:' };

  it('a cached range of years answers whatever lies in it, and nothing else', async () => {
    await using program = await open({ env });
    expect(await program.years(series({ years: RANGE }))).toEqual({
      first: 1990,
      last: 2024,
      rows: 699,
      calls: 1,
    });
    expect(await program.years(series({ years: RANGE }))).toMatchObject({ rows: 699, calls: 0 });
    const within = await program.years(series({ years: 'fromYear: 2000, toYear: 2010' }));
    expect(within).toEqual({ first: 2000, last: 2010, rows: 220, calls: 0 });
    const upTo = await program.years(series({ years: 'fromYear: 1990, toYear: 2000, latest: true' }));
    expect(upTo).toEqual({ first: 2000, last: 2000, rows: 20, calls: 0 });
    // Years beside it are asked for, those of the whole series too, and the latest figure of all.
    expect((await program.years(series({ years: 'fromYear: 1980, toYear: 2024' }))).first).toBe(1980);
    expect(await program.years(series({ years: 'latest: true' }))).toMatchObject({ rows: 20, calls: 1 });
    expect(await program.years(series())).toMatchObject({ first: 1950, rows: 1516, calls: 2 });
  });

  it('a cached range of years stays beside other ranges of the same series, in one operation and in several', async () => {
    await using program = await open({ env });
    const early = 'fromYear: 1990, toYear: 1995';
    const late = 'fromYear: 2010, toYear: 2015';
    const both = `{ early: ${series({ years: early }).slice(1, -1)} late: ${series({ years: late }).slice(1, -1)} }`;
    const askBoth = async () => {
      const { data, upstream } = await program.ask(both);
      expect(upstream.calls).toBe(program.requests().length);
      return [data.early.length, data.late.length, upstream.calls];
    };
    expect(await program.years(series({ years: early }))).toMatchObject({ rows: 120, calls: 1 });
    expect(await askBoth()).toEqual([120, 120, 1]);
    expect(await askBoth()).toEqual([120, 120, 0]);
    expect(await program.years(series({ years: early }))).toMatchObject({ rows: 120, calls: 0 });
    // Seven more, and the first one has made room.
    for (const from of [1950, 1956, 1962, 1968, 1974, 1980, 2000]) {
      const years = `fromYear: ${from}, toYear: ${from + 5}`;
      expect(await program.years(series({ years }))).toMatchObject({ calls: 1 });
    }
    expect(await program.years(series({ years: late }))).toMatchObject({ rows: 120, calls: 0 });
    expect(await program.years(series({ years: early }))).toMatchObject({ rows: 120, calls: 1 });
  });

  it('a cached range of years stays where another call of its operation brings other years unasked', async () => {
    await using program = await open({ env, sandbox: { maxRows: 100 } });
    // Teaches the limit. Whole series take more calls than their years from then on.
    await program.ask(series({ codes: ['AO', 'EG'] }));
    program.requests();
    const of = (codes: string, keys: string, years: string) =>
      `observations(countryCodes: [${codes}], metricKeys: [${keys}], ${years}) { year value }`;
    const both = `{
      wide: ${of('"GH", "NG"', '"forest_area_pct", "life_expectancy"', 'fromYear: 2004, toYear: 2009')}
      corner: ${of('"GH", "KE", "MA"', '"forest_area_pct", "gdp_current_usd"', 'fromYear: 1964, toYear: 1965')}
    }`;
    const first = await program.ask(both);
    const sent = program.requests();
    expect([first.errors, first.upstream.calls]).toEqual([[], sent.length]);
    expect(sent).toEqual([...new Set(sent)]);
    expect(sent.length).toBeLessThanOrEqual(3);
    const again = await program.ask(both);
    expect([again.data, again.upstream.calls, program.requests()]).toEqual([first.data, 0, []]);
  });

  it('a cached range of years goes with the range that has all of its years', async () => {
    await using program = await open({ env });
    const years = (from: number, to: number) => series({ years: `fromYear: ${from}, toYear: ${to}` });
    expect(await program.years(years(1990, 1995))).toMatchObject({ calls: 1 });
    for (const [from, to] of [
      [1985, 2000],
      [2005, 2008],
      [1960, 1962],
      [1970, 1972],
    ] as const)
      expect(await program.years(years(from, to))).toMatchObject({ first: from, last: to, calls: 1 });
    const again = await program.years(years(1990, 1995));
    expect(again).toEqual({ first: 1990, last: 1995, rows: 120, calls: 0 });
  });

  it('a cached range of years is not asked for where the whole series is held', async () => {
    await using program = await open({ env });
    expect(await program.years(series())).toMatchObject({ rows: 1516, calls: 2 });
    expect(await program.years(series({ years: RANGE }))).toMatchObject({ rows: 699, calls: 0 });
  });
});

describe('years that whole series hold at no further call', () => {
  it('years that whole series hold at no further call are taken from these, and so are others later', async () => {
    await using program = await open();
    const codes = CODES.slice(0, 3);
    const few = (years: string) => program.years(series({ codes, years }));
    expect(await few(RANGE)).toMatchObject({ rows: 210, calls: 1 });
    expect(await few('fromYear: 1980')).toMatchObject({ first: 1980, calls: 0 });
    expect(await few('latest: true')).toMatchObject({ rows: 6, calls: 0 });
  });
});

describe('different years of the same figures', () => {
  it('different years of the same figures take one call in one operation, without a cache too', async () => {
    await using program = await open({ env: { CACHE_URL: 'none' } });
    const early = series({ years: 'fromYear: 1990, toYear: 1999' }).slice(1, -1);
    const late = series({ years: 'fromYear: 2000, toYear: 2009' }).slice(1, -1);
    const { data, upstream } = await program.ask(`{ early: ${early} late: ${late} }`);
    expect([data.early.length, data.late.length, upstream.calls]).toEqual([200, 200, 1]);
  });

  it.each(['none', 'memory:'])(
    'different years of the same figures of few are those of their whole series, each for itself (%s)',
    async (store) => {
      await using program = await open({ env: { CACHE_URL: store } });
      const of = (years: string) => series({ codes: ['KE'], years }).slice(1, -1);
      const { data, errors, upstream } = await program.ask(
        `{ early: ${of('toYear: 1959')} late: ${of('fromYear: 2020, toYear: 2021')} all: ${of('')} future: ${of('fromYear: 2040')} }`,
      );
      expect(errors).toEqual([]);
      const lengths = ['early', 'late', 'all', 'future'].map((name) => data[name].length);
      expect([...lengths, upstream.calls, upstream.naive]).toEqual([20, 4, 152, 0, 1, 4]);
    },
  );

  it('different years of the same figures take one call in operations that run together', async () => {
    await using program = await open({ env: { CACHE_URL: 'none', BATCH_WINDOW_MS: '50' } });
    const answers = await Promise.all([
      program.ask(series({ years: 'fromYear: 1990, toYear: 1999' })),
      program.ask(series({ years: 'fromYear: 1995, toYear: 2009' })),
    ]);
    expect(answers.map(({ data }) => data.observations.length)).toEqual([200, 300]);
    expect(program.requests()).toHaveLength(1);
  });

  it('different years of the same figures come with the whole series where an operation that runs together asks for that', async () => {
    await using program = await open({ env: { CACHE_URL: 'none', BATCH_WINDOW_MS: '50' } });
    const answers = await Promise.all([program.ask(series({ years: RANGE })), program.ask(series())]);
    expect(answers.map(({ data }) => data.observations.length)).toEqual([699, 1516]);
    expect(program.requests()).toHaveLength(2);
  });
});

describe('a service that takes no years', () => {
  it.each(['ignore', 'refuse'] as const)(
    'a service that takes no years (%s) answers all the same, and the price says what it may take',
    async (extras) => {
      await using program = await open({ env: { CACHE_URL: 'none' }, sandbox: { extras } });
      for (const _ of ['first', 'second']) {
        const query = series({ years: RANGE });
        const { extensions } = await program.ask(query, { headers: { 'x-explain': '1' } });
        const { least, most } = extensions.explain as { least: number; most: number };
        const { rows, calls } = await program.years(query);
        expect(rows).toBe(699);
        expect(calls).toBeGreaterThanOrEqual(least);
        expect(calls).toBeLessThanOrEqual(most);
      }
    },
  );
});

describe('the price of some years', () => {
  it('the price of some years is that of the call that brings them', async () => {
    await using program = await open();
    const { extensions } = await program.ask(series({ years: RANGE }), { headers: { 'x-explain': '1' } });
    expect(extensions.explain).toMatchObject({ calls: 1, least: 1, byRoute: { '/v1/data': 1 } });
    expect(program.requests()).toEqual([]);
    await program.ask(series({ years: RANGE }));
    const held = await program.ask(series({ years: RANGE }), { headers: { 'x-explain': '1' } });
    expect(held.extensions.explain).toMatchObject({ calls: 0, least: 0, most: 0, cached: 20 });
  });
});
