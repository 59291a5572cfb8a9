import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { movingClock } from '../support/moving-clock.ts';
import { openProgram, type Program } from '../support/program.ts';

/** A gateway that has seen the list of countries, and that the team's key has plenty of calls left. */
async function open() {
  const { clock } = movingClock(Date.parse('2026-11-21T10:00:30Z'));
  const program = await openProgram({ clock, sandbox: { now: clock.now } });
  for (let i = 0; i < 6; i += 1) await program.ask('{ countries { name } }');
  program.sandbox.log.clear();
  return program;
}

/** The routes asked for while the list of countries is on its way. */
async function askedBeforeList(program: Program, query: string, key: string = program.sandbox.keys.team) {
  const leaves = new AbortController();
  const mend = program.sandbox.faults.set({ kind: 'hang', route: '/v1/countries' });
  const reply = program.ask(query, { key, signal: leaves.signal }).catch(() => {});
  const routes = () => program.sandbox.log.map(({ path }) => path);
  await expect.poll(routes).toContain('/v1/countries');
  await pause(100);
  leaves.abort();
  await reply;
  mend();
  return routes();
}

const FIGURE = 'observation(metricKey: "population_total") { value year }';

describe('while the list of countries is on its way, figures', () => {
  it.each([
    ['of one of them', `{ country(code: "KE") { name ${FIGURE} } }`],
    ['of all of them', `{ countries { name ${FIGURE} } }`],
    [
      'of some, and of another field',
      `{ country(code: "NG") { ${FIGURE} } countries(codes: ["ke"]) { name ${FIGURE} } }`,
    ],
    ['in a fragment', `{ countries { ...F } } fragment F on Country { region a: ${FIGURE} b: ${FIGURE} }`],
    [
      'and what they are compared with',
      '{ country(code: "KE") { name observation(metricKey: "gdp_current_usd") { growthPercent } } }',
    ],
    [
      'beside rows, which travel in the same call',
      `{ countries { name ${FIGURE} observations(metricKeys: ["life_expectancy"], latest: true) { value } } }`,
    ],
    [
      'in series',
      '{ country(code: "KE") { name observations(metricKeys: ["life_expectancy"]) { value year } } }',
    ],
    [
      'of an entity',
      `{ _entities(representations: [{ __typename: "Country", code: "KE" }]) { ... on Country { name ${FIGURE} } } }`,
    ],
  ])('%s are asked for in the same round trip, and cost no more', async (_, query) => {
    await using program = await open();
    expect(await askedBeforeList(program, query)).toEqual(['/v1/countries', '/v1/data']);
    await using other = await openProgram();
    const first = await other.ask(query);
    const { data, errors, upstream } = await program.ask(query);
    expect([data, errors]).toEqual([first.data, []]);
    expect([upstream.calls, upstream.naive]).toEqual([2, first.upstream.naive]);
  });

  it.each([
    ['of a region, which the list tells', `{ countries(region: "Africa") { name ${FIGURE} } }`],
    ['of a page, which the list tells', `{ countriesConnection(first: 3) { nodes { name ${FIGURE} } } }`],
    [
      'beside those of the whole catalogue',
      `{ country(code: "KE") { name ${FIGURE} observations(latest: true) { value } } }`,
    ],
    [
      'of more rows than a call brings',
      `{ countries { name observations(metricKeys: [${Array.from({ length: 19 }, (_, i) => `"m${i}"`)}], latest: true) { value } } }`,
    ],
    ['that have no proper key', '{ countries { name observation(metricKey: "a b") { value } } }'],
  ])('%s, wait for it', async (_, query) => {
    await using program = await open();
    expect(await askedBeforeList(program, query)).toEqual(['/v1/countries']);
  });

  it.each([
    [
      'of one country are asked for',
      `{ country(code: "KE") { name ${FIGURE} } }`,
      ['/v1/countries', '/v1/data'],
    ],
    ['of several, of which some may be wrong, wait', `{ countries { name ${FIGURE} } }`, ['/v1/countries']],
  ])('%s by the first operation of all', async (_, query, routes) => {
    await using program = await openProgram();
    const { free } = program.sandbox.keys;
    expect(await askedBeforeList(program, query, free)).toEqual(routes);
    expect((await program.ask(query, { key: free })).upstream.calls).toBe(2);
  });

  it('wait for it where another operation of the key may share their call, unless calls are plenty', async () => {
    await using program = await open();
    const { free, team } = program.sandbox.keys;
    const query = `{ countries { name ${FIGURE} } }`;
    for (const [key, routes] of [
      [free, ['/v1/platform/etl-status', '/v1/countries']],
      [team, ['/v1/platform/etl-status', '/v1/countries', '/v1/data']],
    ] as const) {
      program.sandbox.log.clear();
      const leaves = new AbortController();
      const mend = program.sandbox.faults.set({ kind: 'hang', route: '/v1/platform/etl-status' });
      const other = program.ask('{ sources { key } }', { key, signal: leaves.signal }).catch(() => {});
      await expect.poll(() => program.sandbox.log.length).toBe(1);
      expect(await askedBeforeList(program, query, key)).toEqual(routes);
      leaves.abort();
      await other;
      mend();
    }
  });

  it('wait for it where the minute may have room for two calls alone', async () => {
    const { clock } = movingClock(Date.parse('2026-11-21T10:00:30Z'));
    await using program = await openProgram({ clock, sandbox: { now: clock.now } });
    const { free } = program.sandbox.keys;
    const query = `{ countries { name ${FIGURE} } }`;
    for (const other of ['{ sources { key } }', '{ tickers { symbol } }'])
      await program.ask(other, { key: free });
    expect(program.sandbox.log).toHaveLength(3);
    program.sandbox.log.clear();
    expect(await askedBeforeList(program, query, free)).toEqual(['/v1/countries']);
  });

  it('cost a call for nothing where the list lacks all of them, and no second one', async () => {
    await using program = await openProgram();
    program.sandbox.faults.set({
      kind: 'shape',
      route: '/v1/countries',
      patch: ({ data }) => ({
        data: data.filter(({ id }: { readonly id: string }) => id.toUpperCase() !== 'KE'),
      }),
    });
    const query = `{ country(code: "KE") { name ${FIGURE} } }`;
    const explained = (await program.ask(query, { headers: { 'x-explain': '1' } })).extensions.explain;
    expect(explained).toMatchObject({ calls: 2, least: 1, ahead: true });
    const { data, upstream } = await program.ask(query);
    expect([data, upstream.byRoute]).toEqual([{ country: null }, { '/v1/countries': 1, '/v1/data': 1 }]);
    // The list has taught the process better.
    expect((await program.ask(query)).upstream.byRoute).toEqual({ '/v1/countries': 1 });
  });

  it('are those of the list that comes, whatever was expected', async () => {
    await using program = await open();
    const query = `{ countries { code ${FIGURE} } }`;
    const { data } = await program.ask(query);
    const without = (code: string) =>
      data.countries.filter((country: { readonly code: string }) => country.code !== code);
    program.sandbox.faults.set({
      kind: 'shape',
      route: '/v1/countries',
      times: 1,
      patch({ data, meta }) {
        data.splice(3, 1);
        return { data, meta: { ...meta, count: data.length, total: data.length } };
      },
    });
    const lost = data.countries[3].code;
    const shorter = await program.ask(query);
    expect([shorter.data.countries, shorter.upstream.calls]).toEqual([without(lost), 2]);
    // Meets a country that was not expected: its figure takes a call of its own.
    const longer = await program.ask(query);
    expect([longer.data, longer.upstream.byRoute]).toEqual([data, { '/v1/countries': 1, '/v1/data': 2 }]);
  });

  it('are on the bill where the list does not come', async () => {
    await using program = await open();
    program.sandbox.faults.set({ kind: 'status', status: 400, route: '/v1/countries' });
    const { data, errors, upstream } = await program.ask(`{ countries { name ${FIGURE} } }`);
    expect([data, errors.length]).toEqual([{ countries: null }, 1]);
    expect(upstream.byRoute).toEqual({ '/v1/countries': 1, '/v1/data': 1 });
    expect(program.sandbox.log).toHaveLength(2);
  });
});
