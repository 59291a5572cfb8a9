import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { movingClock } from '../support/moving-clock.ts';
import { openProgram, type Program } from '../support/program.ts';
import { openPage } from './holding.ts';
import { type Any, isInstalled, load } from './mounted-pages.ts';

const SERIES = `query Series($codes: [CountryCode!]!, $keys: [String!]!, $from: Int, $to: Int) {
  observations(countryCodes: $codes, metricKeys: $keys, fromYear: $from, toYear: $to) {
    year value country { code } indicator { key }
  }
}`;
const CARD = `query Card($codes: [CountryCode!]!) {
  countries(codes: $codes) { name latest: observation(metricKey: "population_total") { value year unit } }
}`;

const open = () => openProgram({ env: { CACHE_URL: 'memory:' } });
const series = (codes: readonly string[], from?: number, to?: number) => ({
  codes,
  keys: ['population_total'],
  from,
  to,
});

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** The answer without a page that holds anything. */
async function direct(program: Program, query: string, variables: Readonly<Record<string, unknown>>) {
  const { data, errors, upstream } = await program.ask(query, { variables });
  return { data, errors, calls: upstream.calls };
}

describe('figures held in the page', () => {
  it('figures held in the page answer each window of a slider after one request for all years', async () => {
    await using program = await open();
    using page = openPage(program);
    const all = await page.ask(SERIES, series(['KE', 'NG'], 1990, 2025));
    expect(all.extensions.client).toMatchObject({ held: 0, spared: 0 });
    expect(page.sent()).toHaveLength(1);
    program.requests();
    for (let from = 1990; from <= 2020; from += 1) {
      const variables = series(['KE', 'NG'], from, from + 5);
      const { data, extensions, headers } = await page.ask(SERIES, variables);
      expect(data).toEqual((await direct(program, SERIES, variables)).data);
      expect(extensions.client).toEqual({ held: data.observations.length, asked: 0, spared: 1 });
      expect(extensions.upstream.calls).toBe(0);
      expect(headers.get('cache-control')).toMatch(/^private, max-age=\d+$/);
    }
    expect(page.sent()).toEqual([]);
    expect(program.requests()).toEqual([]);
  });

  it('figures held in the page are asked for no more by a second chart of other countries too', async () => {
    await using program = await open();
    using page = openPage(program);
    await page.ask(SERIES, series(['KE', 'NG', 'GH'], 2000, 2020));
    page.sent();
    const variables = series(['NG', 'ZA', 'GH', 'EG'], 2000, 2020);
    const { data, extensions } = await page.ask(SERIES, variables);
    expect(page.sent()).toEqual([
      { url: program.url, query: SERIES, variables: { ...variables, codes: ['ZA', 'EG'] } },
    ]);
    expect(extensions.client).toEqual({ held: 42, asked: 42, spared: 0 });
    expect(data).toEqual((await direct(program, SERIES, variables)).data);
  });

  it('figures held in the page are joined with the years before and after them', async () => {
    await using program = await open();
    using page = openPage(program);
    await page.ask(SERIES, series(['KE'], 2000, 2010));
    await page.ask(SERIES, series(['KE'], 2005, 2015));
    const after = await page.ask(SERIES, series(['KE'], 1995, 2015));
    expect(page.sent().map(({ variables: { from, to } }) => [from, to])).toEqual([
      [2000, 2010],
      [2011, 2015],
      [1995, 1999],
    ]);
    expect(after.data.observations.map(({ year }: Any) => year)).toEqual(
      Array.from({ length: 21 }, (_, i) => 1995 + i),
    );
  });

  it('figures held in the page are those of countries with their names, of another text with fewer fields too', async () => {
    await using program = await open();
    using page = openPage(program);
    await page.ask(CARD, { codes: ['KE', 'NG'] });
    const { data } = await page.ask(CARD, { codes: ['GH', 'NG', 'KE'] });
    expect(data).toEqual((await direct(program, CARD, { codes: ['GH', 'NG', 'KE'] })).data);
    const [, second] = page.sent();
    // A document of the page's own, since that of the operation selects no codes.
    expect(second?.query).toContain('query Card(');
    expect(second?.variables).toMatchObject({ cg0_codes: ['GH'] });
    const fewer =
      '{ country(code: "ng") { title: name observation(metricKey: "population_total") { value } } }';
    expect((await page.ask(fewer)).data).toEqual((await direct(program, fewer, {})).data);
    expect(page.sent()).toEqual([]);
  });

  it('figures held in the page are those of one key', async () => {
    await using program = await open();
    using page = openPage(program);
    const { team, analyst } = program.sandbox.keys;
    await page.ask(SERIES, series(['KE']));
    expect((await page.ask(SERIES, series(['KE']), { key: analyst })).extensions.client.held).toBe(0);
    await page.figures.forget(`Bearer ${team}`);
    expect((await page.ask(SERIES, series(['KE']), { key: analyst })).extensions.client.spared).toBe(1);
    expect((await page.ask(SERIES, series(['KE']))).extensions.client.spared).toBe(0);
    expect((await page.ask(SERIES, series(['KE']), { key: 'made-up' })).errors[0]?.extensions.code).toBe(
      'UNAUTHENTICATED',
    );
  });

  it('figures held in the page go with the key once that is refused', async () => {
    await using program = await open();
    using page = openPage(program);
    await page.ask(SERIES, series(['KE']));
    program.sandbox.faults.set({ kind: 'status', route: '/v1/data', status: 401 });
    const { errors } = await page.ask(SERIES, series(['GH']));
    expect(errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
    expect((await page.ask(SERIES, series(['KE']))).data.observations).toBeNull();
  });

  it('figures held in the page are asked for anew once an event tells of them, and others are not', async () => {
    await using program = await open();
    using page = openPage(program);
    await page.ask(SERIES, series(['KE', 'NG']));
    page.sent();
    const observation = { country: { code: 'KE' }, indicator: { key: 'population_total' } };
    page.figures.revised({ changes: [{ kind: 'REVISED', observation }] });
    await page.ask(SERIES, series(['KE', 'NG']));
    expect(page.sent().map(({ variables }) => variables.codes)).toEqual([['KE']]);
    page.figures.revised({ changes: [{ kind: 'REVISED', observation: { value: 1 } }] });
    await page.ask(SERIES, series(['KE', 'NG']));
    expect(page.sent().map(({ variables }) => variables.codes)).toEqual([['KE', 'NG']]);
  });

  it('figures held in the page under subscriptions are held for as long as the page says', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:', SUBSCRIPTIONS: 'on' } });
    for (const [live, spared] of [
      [0, 0],
      [60, 1],
    ] as const) {
      using page = openPage(program, { seconds: { live } });
      await page.ask(SERIES, series(['KE']));
      expect((await page.ask(SERIES, series(['KE']))).extensions.client.spared).toBe(spared);
    }
  });

  it('figures held in the page go by no clock that was set back or forth: each is fresh, or asked for', async () => {
    await using program = await open();
    let [wallMs, steadyMs] = [Date.now(), 0];
    using page = openPage(program, { clock: () => ({ wallMs, steadyMs }) });
    const spared = async () => (await page.ask(SERIES, series(['KE']))).extensions.client.spared;
    await spared();
    wallMs -= 3_600_000;
    steadyMs += 60_000;
    expect(await spared()).toBe(1);
    steadyMs += 240_000;
    expect(await spared()).toBe(0);
    wallMs += 3_600_000;
    expect(await spared()).toBe(0);
    // The machine has slept, and the steady clock with it.
    wallMs += 300_000;
    expect(await spared()).toBe(0);
    expect(await spared()).toBe(1);
  });

  it('figures held in the page are shown past their time if the gateway is out of reach, within the page’s bound', async () => {
    await using program = await open();
    let wallMs = Date.now();
    using page = openPage(program, {
      seconds: { offline: 600 },
      clock: () => ({ wallMs, steadyMs: wallMs }),
    });
    const { data } = await page.ask(SERIES, series(['KE', 'NG']));
    page.isOffline = true;
    wallMs += 500_000;
    const old = await page.ask(SERIES, series(['KE']));
    expect(old.data.observations).toEqual(
      data.observations.filter(({ country }: Any) => country.code === 'KE'),
    );
    expect(old.extensions.client).toMatchObject({ staleSeconds: 500, spared: 1 });
    expect(old.headers.get('cache-control')).toBeNull();
    await expect(page.ask(SERIES, series(['GH']))).rejects.toThrow('Failed to fetch');
    wallMs += 500_000;
    await expect(page.ask(SERIES, series(['KE']))).rejects.toThrow('Failed to fetch');
  });

  it('figures held in the page are bounded: the least recently used make room', async () => {
    await using program = await open();
    using page = openPage(program, { maxFigures: 60 });
    for (const codes of [['KE'], ['NG'], ['KE'], ['GH']]) await page.ask(SERIES, series(codes, 2000, 2024));
    page.sent();
    await page.ask(SERIES, series(['KE'], 2000, 2024));
    expect(page.sent()).toEqual([]);
    await page.ask(SERIES, series(['NG'], 2000, 2024));
    expect(page.sent()).toHaveLength(1);
  });

  it('figures held in the page fill no gap of a failed field, whose error has its place in the whole answer', async () => {
    await using program = await open();
    using page = openPage(program);
    const LIST = `query List($codes: [CountryCode!]!) {
      countries(codes: $codes) { code observations(metricKeys: ["population_total"], fromYear: 2020) { year value indicator { key } } }
    }`;
    await page.ask(LIST, { codes: ['KE', 'NG'] });
    program.sandbox.faults.set({ kind: 'status', route: '/v1/data', status: 500 });
    const { data, errors } = await page.ask(LIST, { codes: ['KE', 'GH', 'NG'] });
    const whole = await direct(program, LIST, { codes: ['KE', 'GH', 'NG'] });
    expect(data).toEqual(whole.data);
    expect(errors).toMatchObject([{ path: ['countries', 1, 'observations'], locations: [{ line: 2 }] }]);
    expect(errors).toEqual(whole.errors);
  });

  it('figures held in the page leave warnings to the gateway, and hold nothing of an answer that has some', async () => {
    await using program = await open();
    using page = openPage(program);
    const unknown = { ...series(['KE']), keys: ['population_total', 'no_such_metric'] };
    for (let i = 0; i < 2; i += 1) {
      const { extensions } = await page.ask(SERIES, unknown);
      expect(extensions.warnings).toMatchObject([{ code: 'UNKNOWN_INDICATOR', name: 'no_such_metric' }]);
      expect(extensions.client).toMatchObject({ held: 0, spared: 0 });
    }
  });

  it('figures held in the page are billed with the calls of an answer that was of no use to it', async () => {
    await using program = await open();
    using page = openPage(program);
    // Its answer has the catalogue's spelling, which wasn't asked for.
    const spelled = { ...series(['KE']), keys: ['POPULATION_TOTAL'] };
    const { data, extensions } = await page.ask(SERIES, spelled);
    expect(page.sent()).toHaveLength(2);
    expect(program.requests()).toHaveLength(1);
    expect(extensions.upstream).toMatchObject({ calls: 1, byRoute: { '/v1/data': 1 } });
    expect(data).toEqual((await direct(program, SERIES, spelled)).data);
  });

  it.for([
    [
      'an order',
      '{ observations(countryCodes: ["KE"], metricKeys: ["population_total"], orderBy: [{ field: YEAR }]) { year } }',
    ],
    [
      'an age',
      '{ country(code: "KE") { observation(metricKey: "population_total", maxAge: 60) { value } } }',
    ],
    ['all countries', '{ observations(metricKeys: ["population_total"], latest: true) { value } }'],
    ['the whole catalogue', '{ country(code: "KE") { observations(latest: true) { value } } }'],
    [
      'a derived figure',
      '{ country(code: "KE") { observation(metricKey: "population_total") { growthPercent } } }',
    ],
    [
      'a moment',
      '{ country(code: "KE") { observation(metricKey: "population_total") { freshness { stale } } } }',
    ],
    [
      'a page',
      '{ observationsConnection(countryCodes: ["KE"], metricKeys: ["population_total"], first: 2) { nodes { value } } }',
    ],
    [
      'a condition',
      '{ country(code: "KE") { observation(metricKey: "population_total") @include(if: true) { value } } }',
    ],
    [
      'another list',
      '{ sources { key } observations(countryCodes: ["KE"], metricKeys: ["population_total"]) { value } }',
    ],
    [
      'no year at all',
      '{ observations(countryCodes: ["KE"], metricKeys: ["population_total"], fromYear: 2020, toYear: 2019) { value } }',
    ],
    ['no document', '{ observations(countryCodes: ['],
    ['a field of another gateway', '{ country(code: "KE") { weather } }'],
    ['a fragment that nothing uses', 'query { country(code: "KE") { name } } fragment F on Country { name }'],
    ['two names in one place', '{ country(code: "KE") { name name: capital } }'],
    ['a code that is none', '{ country(code: "KEN") { name } }'],
  ])('figures held in the page leave an operation as it is that has %s', async ([, query = '']) => {
    await using program = await open();
    using page = openPage(program);
    for (let i = 0; i < 2; i += 1) {
      const { data, errors } = await page.ask(query);
      const { data: wanted, errors: errorsWanted } = await direct(program, query, {});
      expect({ data: data ?? undefined, errors }).toEqual({
        data: wanted ?? undefined,
        errors: errorsWanted,
      });
    }
    expect(page.sent().map((one) => one.query)).toEqual([query, query]);
  });

  it.for([
    ['a price', { headers: { 'x-explain': '1' } }],
    ['absences', { headers: { 'x-absences': '1' } }],
    ['a table', { headers: { accept: 'text/csv' } }],
    ['a body in several parts', { body: JSON.stringify([{ query: '{ sources { key } }' }]) }],
    [
      'another way of errors',
      { body: JSON.stringify({ query: CARD, variables: { codes: ['KE'] }, onError: 'NULL' }) },
    ],
  ] as const)('figures held in the page leave a request as it is that asks for %s', async ([, init]) => {
    await using program = await open();
    using page = openPage(program);
    await page.ask(CARD, { codes: ['KE'] });
    page.sent();
    await page.ask(CARD, { codes: ['KE'] }, init as RequestInit).catch(() => null);
    expect(page.sent()).toHaveLength(1);
  });

  it('figures held in the page are taken from a GET, too, and asked for past a browser’s own cache', async () => {
    await using program = await open();
    const modes: unknown[] = [];
    using page = openPage(program);
    const asked = async (codes: readonly string[]) => {
      const url = `${program.url}?${new URLSearchParams({ query: CARD, variables: JSON.stringify({ codes }) })}`;
      const response = await page.figures.fetch(url, { headers: { authorization: 'Bearer demo-team' } });
      modes.push(response.status);
      return (await response.json()) as Any;
    };
    await asked(['KE']);
    const { data } = await asked(['NG', 'KE']);
    expect(data).toEqual((await direct(program, CARD, { codes: ['NG', 'KE'] })).data);
    const [, second] = page.sent();
    expect(new URL(second?.url ?? '').searchParams.get('variables')).toContain('"cg0_codes":["NG"]');
    expect(modes).toEqual([200, 200]);
  });

  it('figures held in the page are asked for by the operation’s own text where the gateway takes no other', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'country-graph-held-'));
    const manifest = join(folder, 'documents.json');
    writeFileSync(manifest, JSON.stringify({ [hashOf(SERIES)]: SERIES, [hashOf(CARD)]: CARD }));
    await using program = await openProgram({ env: { CACHE_URL: 'memory:', TRUSTED_DOCUMENTS: manifest } });
    using page = openPage(program);
    for (let i = 0; i < 2; i += 1) expect((await page.ask(CARD, { codes: ['KE'] })).errors).toEqual([]);
    const [made, ...others] = page.sent();
    expect(made?.query).not.toBe(CARD);
    expect(others).toEqual(Array(2).fill({ url: program.url, query: CARD, variables: { codes: ['KE'] } }));
    await page.ask(SERIES, series(['KE'], 2000, 2010));
    const { data } = await page.ask(SERIES, series(['KE', 'NG'], 2000, 2010));
    expect(data.observations).toHaveLength(22);
    expect(page.sent().map(({ query, variables }) => [query, variables.codes])).toEqual([
      [SERIES, ['KE']],
      [SERIES, ['NG']],
    ]);
    rmSync(folder, { recursive: true });
  });

  it('figures held in the page have the whole asked for where the gateway takes no field more', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:', MAX_ALIASES: '1' } });
    using page = openPage(program);
    const query =
      '{ observations(countryCodes: ["KE", "NG"], metricKeys: ["population_total"]) { v: value } }';
    const { data, errors } = await page.ask(query);
    expect({ data, errors }).toEqual({ data: (await direct(program, query, {})).data, errors: [] });
    expect(page.sent().map((one) => one.query === query)).toEqual([false, true]);
  });
});

describe.runIf(isInstalled)('figures held in the page by', () => {
  const gqlOf = async () => (await load('@apollo/client/core/index.js')) as Any;

  it('Apollo Client are its link’s, which sends what is missing', async () => {
    await using program = await open();
    using page = openPage(program);
    const [{ ApolloClient, ApolloLink, InMemoryCache, Observable, gql }, { HttpLink }] = await Promise.all([
      gqlOf(),
      load('@apollo/client/link/http/index.js'),
    ]);
    const bodies: Any[] = [];
    const client = new ApolloClient({
      cache: new InMemoryCache(),
      link: ApolloLink.from([
        new ApolloLink((operation: Any, forward: Any) => {
          operation.setContext({ headers: { authorization: `Bearer ${program.sandbox.keys.team}` } });
          return forward(operation);
        }),
        new ApolloLink(page.figures.link(Observable)),
        new HttpLink({
          uri: program.url,
          fetch: (url: string, init: Any) => {
            bodies.push(JSON.parse(init.body).variables);
            return fetch(url, init);
          },
        }),
      ]),
    });
    const query = gql(SERIES);
    await client.query({ query, variables: series(['KE', 'NG'], 2000, 2020), fetchPolicy: 'no-cache' });
    const { data } = await client.query({
      query,
      variables: series(['GH', 'KE'], 2005, 2010),
      fetchPolicy: 'no-cache',
    });
    await client.query({ query, variables: series(['NG', 'GH'], 2006, 2009), fetchPolicy: 'no-cache' });
    expect(bodies.map(({ codes, from, to }) => [codes, from, to])).toEqual([
      [['KE', 'NG'], 2000, 2020],
      [['GH'], 2005, 2010],
    ]);
    const wanted = await direct(program, SERIES, series(['GH', 'KE'], 2005, 2010));
    expect(data.observations.map(({ value }: Any) => value)).toEqual(
      wanted.data.observations.map(({ value }: Any) => value),
    );
    client.stop();
  });

  it('urql are its exchange’s, and a refetch passes them by', async () => {
    await using program = await open();
    using page = openPage(program);
    const { Client, fetchExchange, gql } = await load('@urql/core/dist/urql-core.mjs');
    const client = new Client({
      url: program.url,
      fetchOptions: { headers: { authorization: `Bearer ${program.sandbox.keys.team}` } },
      exchanges: [page.figures.exchange, fetchExchange],
    });
    const ask = (codes: readonly string[], options = {}) =>
      client.query(gql(SERIES), series(codes, 2000, 2020), options).toPromise();
    await ask(['KE', 'NG']);
    const { data, extensions } = await ask(['GH', 'KE']);
    expect(data).toEqual((await direct(program, SERIES, series(['GH', 'KE'], 2000, 2020))).data);
    expect(extensions.client).toEqual({ held: 21, asked: 21, spared: 0 });
    expect((await ask(['NG'])).extensions.client.spared).toBe(1);
    expect((await ask(['NG'], { requestPolicy: 'network-only' })).extensions.client.spared).toBe(0);
    expect(page.sent().map(({ variables }) => variables.codes)).toEqual([['KE', 'NG'], ['GH'], ['NG']]);
  });
});

it('figures held in the page with a clock of the gateway that moves on are asked for once their time is over', async () => {
  const { clock, pass } = movingClock(Date.now());
  await using program = await openProgram({
    env: { CACHE_URL: 'memory:' },
    clock,
    sandbox: { now: clock.now },
  });
  using page = openPage(program, { clock: () => ({ wallMs: clock.now(), steadyMs: clock.now() }) });
  await page.ask(SERIES, series(['KE']));
  pass(200);
  expect((await page.ask(SERIES, series(['KE']))).extensions.client.spared).toBe(1);
  pass(100);
  expect((await page.ask(SERIES, series(['KE']))).extensions.client.spared).toBe(0);
});
