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
      'beside others, which travel in the same call',
      `{ countries { name ${FIGURE} observations(metricKeys: ["life_expectancy"], latest: true) { value } } }`,
    ],
    ['that have no proper key', '{ countries { name observation(metricKey: "a b") { value } } }'],
  ])('%s, wait for it', async (_, query) => {
    await using program = await open();
    expect(await askedBeforeList(program, query)).toEqual(['/v1/countries']);
  });

  it('wait for it where nothing tells that calls are plenty', async () => {
    await using program = await open();
    const query = `{ countries { name ${FIGURE} } }`;
    expect(await askedBeforeList(program, query, program.sandbox.keys.free)).toEqual(['/v1/countries']);
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
