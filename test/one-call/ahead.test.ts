import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { movingClock } from '../support/moving-clock.ts';
import { openProgram, type Program } from '../support/program.ts';
import { roundTrips, settled } from '../support/quiet.ts';

/** A gateway that has seen the list of countries, and that the team's key has plenty of calls left. */
async function open() {
  const { clock } = movingClock(Date.parse('2026-11-21T10:00:30Z'));
  const program = await openProgram({ clock, sandbox: { now: clock.now } });
  for (let i = 0; i < 6; i += 1) await program.ask('{ countries { name } }');
  program.sandbox.log.clear();
  return program;
}

/** A gateway over a service that lists some countries, and refuses others without a word. */
async function openFewCountries(codes: readonly string[]) {
  const program = await openProgram();
  const isListed = (code: string) => codes.includes(code.toUpperCase());
  program.sandbox.faults.set({
    kind: 'shape',
    route: '/v1/countries',
    patch: ({ data }) => ({ data: data.filter(({ id }: { readonly id: string }) => isListed(id)) }),
  });
  program.sandbox.faults.set({
    kind: 'status',
    status: 422,
    route: '/v1/data',
    when: ({ country_codes = '' }) => !country_codes.split(',').every(isListed),
  });
  return program;
}

/** The routes asked for while the list of countries is on its way. */
async function askedBeforeList(program: Program, query: string, key: string = program.sandbox.keys.team) {
  const leaves = new AbortController();
  const mend = program.sandbox.faults.set({ kind: 'hang', route: '/v1/countries' });
  const reply = program.ask(query, { key, signal: leaves.signal }).catch(() => {});
  const routes = () => program.sandbox.log.map(({ path }) => path);
  await expect.poll(routes).toContain('/v1/countries');
  await settled(program);
  const ended = program.operations.length;
  leaves.abort();
  await reply;
  // An operation that came before the gateway has seen that would join the call that hangs.
  await expect.poll(() => program.operations.length).toBe(ended + 1);
  mend();
  return routes();
}

/** The cursor of a country. */
const cursorOf = (code: string) =>
  Buffer.from(JSON.stringify(['Cursor', 'Country', code])).toString('base64url');

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
    [
      'of an entity by its other code',
      `{ _entities(representations: [{ __typename: "Country", iso3: "KEN" }]) { ... on Country { name ${FIGURE} } } }`,
    ],
    ['of a node', `{ node(id: "WyJDb3VudHJ5IiwiS0UiXQ") { ... on Country { name ${FIGURE} } } }`],
    ['of nodes', `{ nodes(ids: ["WyJDb3VudHJ5IiwiS0UiXQ"]) { ... on Country { name ${FIGURE} } } }`],
    ['of a connection', `{ countriesConnection { totalCount nodes { name ${FIGURE} } } }`],
    ['of a page', `{ countriesConnection(first: 3) { edges { node { name ${FIGURE} } } } }`],
    [
      'of a page from the end',
      `{ countriesConnection(last: 2, codes: ["KE", "NG", "ZA"]) { nodes { name ${FIGURE} } } }`,
    ],
    [
      'of a page in an order of codes, after a cursor',
      `{ countriesConnection(first: 2, after: "${cursorOf('KE')}", orderBy: [{ field: CODE, direction: DESC }]) { nodes { code name ${FIGURE} } } }`,
    ],
    [
      'of a whole connection in an order of names',
      `{ countriesConnection(codes: ["KE", "NG"], orderBy: [{ field: NAME }]) { nodes { name ${FIGURE} } } }`,
    ],
    [
      'in a connection',
      '{ country(code: "KE") { name observationsConnection(metricKeys: ["life_expectancy"], first: 2) { nodes { value year } } } }',
    ],
  ])(
    'while the list of countries is on its way, figures %s are asked for in the same round trip, and cost no more',
    async (_, query) => {
      await using program = await open();
      expect(await askedBeforeList(program, query)).toEqual(['/v1/countries', '/v1/data']);
      await using other = await openProgram();
      const first = await other.ask(query);
      const { data, errors, upstream } = await program.ask(query);
      expect([data, errors]).toEqual([first.data, []]);
      expect([upstream.calls, upstream.naive]).toEqual([2, first.upstream.naive]);
    },
  );

  it.each([
    ['of a region, which the list tells', `{ countries(region: "Africa") { name ${FIGURE} } }`],
    [
      'of a page in an order of names, which the list tells',
      `{ countriesConnection(first: 3, orderBy: [{ field: NAME }]) { nodes { name ${FIGURE} } } }`,
    ],
    [
      'beside those of the whole catalogue',
      `{ country(code: "KE") { name ${FIGURE} observations(latest: true) { value } } }`,
    ],
    [
      'of more rows than a call brings',
      `{ countries { name observations(metricKeys: [${Array.from({ length: 19 }, (_, i) => `"m${i}"`)}], latest: true) { value } } }`,
    ],
    ['that have no proper key', '{ countries { name observation(metricKey: "a b") { value } } }'],
  ])('while the list of countries is on its way, figures %s, wait for it', async (_, query) => {
    await using program = await open();
    expect(await askedBeforeList(program, query)).toEqual(['/v1/countries']);
  });

  it.each([
    [
      'of one country are asked for',
      `{ country(code: "KE") { name ${FIGURE} } }`,
      ['/v1/countries', '/v1/data'],
    ],
    ['of all countries wait', `{ countries { name ${FIGURE} } }`, ['/v1/countries']],
    ['of a page wait', `{ countriesConnection(first: 3) { nodes { name ${FIGURE} } } }`, ['/v1/countries']],
    [
      'of one country wait beside those of all',
      `{ countries { name ${FIGURE} } ke: country(code: "KE") { ${FIGURE} } }`,
      ['/v1/countries'],
    ],
  ])(
    'while the list of countries is on its way, figures %s by the first operation of all',
    async (_, query, routes) => {
      await using program = await openProgram();
      const { free } = program.sandbox.keys;
      expect(await askedBeforeList(program, query, free)).toEqual(routes);
      expect((await program.ask(query, { key: free })).upstream.calls).toBe(2);
    },
  );

  it('while the list of countries is on its way, figures wait for it where another operation of the key may share their call, unless calls are plenty', async () => {
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

  it('while the list of countries is on its way, figures wait for it where the minute may have room for two calls alone', async () => {
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

  it('while the list of countries is on its way, figures cost a call for nothing where the list lacks all of them, and no second one', async () => {
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

  it('while the list of countries is on its way, figures of all countries wait for the first list, so no country is asked for that it lacks', async () => {
    await using program = await openFewCountries(['KE', 'NG']);
    const query = `{ countries { code ${FIGURE} } }`;
    const { data, errors, upstream } = await program.ask(query);
    expect(errors).toEqual([]);
    expect(data.countries.map(({ code }: { readonly code: string }) => code)).toEqual(['KE', 'NG']);
    for (const { observation } of data.countries) expect(observation.value).toBeGreaterThan(0);
    expect(upstream.byRoute).toEqual({ '/v1/countries': 1, '/v1/data': 1 });
  });

  it('while the list of countries is on its way, figures end with a client that leaves, and are not asked for again', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'none' } });
    const mend = program.sandbox.faults.set({ kind: 'hang', route: '/v1/data' });
    const query = `{ countries(codes: ["KE", "NG"]) { name ${FIGURE} } }`;
    const routes = () => program.sandbox.log.map(({ route }) => route).sort();
    const leaving = new AbortController();
    const left = program.ask(query, { signal: leaving.signal }).catch(() => {});
    await expect.poll(routes).toEqual(['/v1/countries', '/v1/data']);
    leaving.abort();
    await left;
    await expect.poll(() => program.sandbox.log.filter(({ aborted }) => aborted)).toHaveLength(1);
    mend();
    expect(routes()).toEqual(['/v1/countries', '/v1/data']);
    expect((await program.ask(query)).errors).toEqual([]);
  });

  it('while the list of countries is on its way, figures of one country are right beside those of all where the service lacks some', async () => {
    await using program = await openFewCountries(['KE', 'NG']);
    const query = `{ countries { code ${FIGURE} } }`;
    const one = `{ country(code: "KE") { ${FIGURE} } }`;
    const replies = await Promise.all([
      program.ask(query),
      program.ask(one),
      roundTrips(program).then(() => program.ask(one)),
    ]);
    for (const { errors } of replies) expect(errors).toEqual([]);
    for (const { data } of replies.slice(1)) expect(data.country.observation.value).toBeGreaterThan(0);
  });

  it('while the list of countries is on its way, figures are within the price though nobody can read the list', async () => {
    await using program = await openProgram();
    program.sandbox.faults.set({
      kind: 'shape',
      route: '/v1/countries',
      patch: ({ data }) => ({ data: data.map((row: object) => ({ ...row, id: 7, iso3: 7 })) }),
    });
    await program.ask('{ countries { name } }');
    const query = `{ countries { ${FIGURE} } }`;
    const explained = await program.ask(query, { headers: { 'x-explain': '1' } });
    const { least, most } = explained.extensions.explain as { readonly least: number; readonly most: number };
    const { calls } = (await program.ask(query)).upstream;
    expect([calls, least <= calls, calls <= most]).toEqual([1, true, true]);
  });

  it('while the list of countries is on its way, figures of a key that is refused cost a second call at most once a minute, whatever keys are tried', async () => {
    const waiting: ServerResponse[] = [];
    const service = createServer((_, response) => waiting.push(response));
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    const upstreamUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    const { clock, pass } = movingClock(Date.parse('2026-11-21T10:00:30Z'));
    await using program = await openProgram({ clock, upstreamUrl });
    /** Requests that are sent before the first of them is refused. */
    const sentFor = async (key: string) => {
      const reply = program.ask(`{ country(code: "KE") { name ${FIGURE} } }`, { key });
      await expect.poll(() => waiting.length).toBeGreaterThan(0);
      await settled(program);
      const sent = waiting.splice(0);
      for (const response of sent) {
        response.writeHead(401, { 'content-type': 'application/json' });
        response.end('{"detail":"Not authenticated"}');
      }
      expect((await reply).errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
      return sent.length;
    };
    expect(await sentFor('made-up-1')).toBe(2);
    expect(await sentFor('made-up-2')).toBe(1);
    expect(await sentFor('made-up-3')).toBe(1);
    pass(61);
    expect(await sentFor('made-up-4')).toBe(2);
    service.close();
  });

  it('while the list of countries is on its way, figures are those of the list that comes, whatever was expected', async () => {
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

  it('while the list of countries is on its way, figures are on the bill where the list does not come', async () => {
    await using program = await open();
    program.sandbox.faults.set({ kind: 'status', status: 400, route: '/v1/countries' });
    const { data, errors, upstream } = await program.ask(`{ countries { name ${FIGURE} } }`);
    expect([data, errors.length]).toEqual([{ countries: null }, 1]);
    expect(upstream.byRoute).toEqual({ '/v1/countries': 1, '/v1/data': 1 });
    expect(program.sandbox.log).toHaveLength(2);
  });

  it('while the list of countries is on its way, figures are within the price beside a figure by its identifier', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'none' } });
    // Its calls are known to be plenty.
    for (let i = 0; i < 6; i += 1) await program.ask('{ countries { name } }');
    const { data } = await program.ask(
      '{ observations(countryCodes: ["NG"], metricKeys: ["population_total"], latest: true) { id } }',
    );
    const query =
      'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Country { name observations(metricKeys: ["life_expectancy"]) { value } } } }';
    const country = Buffer.from(JSON.stringify(['Country', 'KE'])).toString('base64url');
    const variables = { ids: [data.observations[0].id, country] };
    const { extensions } = await program.ask(query, { variables, headers: { 'x-explain': '1' } });
    const { upstream } = await program.ask(query, { variables });
    expect(extensions.explain).toMatchObject({ least: 2, calls: 3, ahead: true });
    expect(upstream.byRoute).toEqual({ '/v1/countries': 1, '/v1/data': 1 });
  });

  it('while the list of countries is on its way, figures that then share the call of others of the operation are not shared with another', async () => {
    await using program = await openProgram();
    program.sandbox.faults.set({
      kind: 'shape',
      route: '/v1/countries',
      patch: ({ data }) => ({ data: [...data.slice(0, 5), { id: 'xk', name: 'Elsewhere' }] }),
    });
    const { upstream } = await program.ask(
      '{ countries { code observations(metricKeys: ["life_expectancy"], fromYear: 2023) { value } } }',
    );
    expect([upstream.calls, upstream.shared]).toEqual([program.sandbox.log.length, 0]);
  });
});
