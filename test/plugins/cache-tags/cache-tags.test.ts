import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFixedService, type Sent } from '../../support/fixed-service.ts';
import { openProgram } from '../../support/program.ts';
import { SENT_ROW } from '../../support/sent-row.ts';
import { openTimedProgram } from '../../support/timed-program.ts';
import { openCache } from './told-cache.ts';

const row = (metric_key: string, source: string) => ({
  ...SENT_ROW,
  metric_key,
  source,
  location_name: null,
  as_of_period: null,
});
const ROWS = [row('one', 'world bank'), row('two', 'imf_weo')];
/** Behind the last runs of the sandbox's sources. */
const AFTER_RUNS = Date.parse('2026-11-10T12:00:30Z');
const ALL_FORMS = { CACHE_TAGS: 'Cache-Tag, Surrogate-Key, apollo' };

const observation = (key: string) => `{ country(code: "KE") { observation(metricKey: "${key}") { value } } }`;
const sourceOf = (key: string) =>
  `{ country(code: "KE") { observation(metricKey: "${key}") { source { key } } } }`;

async function open(
  env: Readonly<Record<string, string>>,
  sources?: () => readonly Sent[],
  signals: Sent = { country: { code: 'KE' } },
) {
  const service = await openFixedService({ rows: ROWS, signals, ...(sources && { sources }) });
  const program = await openProgram({ upstreamUrl: service.url, env: { CACHE_URL: 'memory:', ...env } });
  return {
    ...program,
    service,
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

async function sharedFile(named: (path: string) => object) {
  const folder = await mkdtemp(join(tmpdir(), 'country-graph-tags-'));
  return {
    options: named(join(folder, 'store.db')),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

const namedStore = (path: string) => ({ env: { CACHE_URL: `sqlite:${path}` } });
const runFile = (path: string) => ({ runFile: { path, mostBytes: 1e7 } });

describe('the tags of an answer', () => {
  it('the tags of an answer name the countries, indicators and sources of its figures, also when it is repeated', async () => {
    await using program = await open(ALL_FORMS);
    const tags = ['country-KE', 'indicator-one', 'source-world%20bank'];
    for (const calls of [1, 0, 0, 0]) {
      const { headers, extensions, upstream } = await program.ask(observation('one'));
      expect(headers.get('cache-tag')).toBe(tags.join(','));
      expect(headers.get('surrogate-key')).toBe(tags.join(' '));
      expect([extensions.apolloCacheTags, upstream.calls]).toEqual([tags, calls]);
    }
    expect(program.operations.at(-1)?.repeated).toBe(true);
  });

  it('the tags of an answer name what it has looked for and not found', async () => {
    await using program = await open(ALL_FORMS);
    const { headers } = await program.ask(observation('none'));
    expect(headers.get('cache-tag')).toBe('country-KE,indicator-none');
  });

  it('the tags of an answer name the lists and records that it has read, also when it is repeated', async () => {
    await using program = await open({ CACHE_TAGS: 'cache-tag' });
    const tagsOf = async (query: string) => {
      const tags = [];
      for (const _ of [1, 2, 3]) tags.push((await program.ask(query)).headers.get('cache-tag'));
      return tags;
    };
    expect(await tagsOf('{ countries { name } }')).toEqual(Array(3).fill('countries'));
    expect(await tagsOf('{ country(code: "KE") { signals { record } } }')).toEqual(
      Array(3).fill('signals-KE'),
    );
    expect(program.operations.at(-1)?.repeated).toBe(true);
  });

  it('the tags of an answer name a cached list that has told it only which names there are, also when it is repeated', async () => {
    await using program = await openTimedProgram({ env: { CACHE_TAGS: 'cache-tag' } });
    const countries =
      '{ observations(countryCodes: ["KE", "XX"], metricKeys: ["idps_total"], latest: true) { value } }';
    const indicators = '{ country(code: "KE") { observation(metricKey: "no_such_key") { value } } }';
    const tagsOf = async (query: string) => {
      const { headers, upstream } = await program.ask(query);
      return [headers.get('cache-tag'), upstream.calls];
    };
    // Before there is a list, the service answers for each name.
    expect(await tagsOf(countries)).toEqual([
      'country-KE,country-XX,indicator-idps_total,source-unhcr_displacement_signals',
      1,
    ]);
    expect(await tagsOf(indicators)).toEqual(['country-KE,indicator-no_such_key', 1]);
    await program.ask('{ countries { code } indicators { key } }');
    for (const _ of [1, 2, 3]) {
      expect(await tagsOf(countries)).toEqual([
        'countries,country-KE,indicator-idps_total,source-unhcr_displacement_signals',
        0,
      ]);
      expect(await tagsOf(indicators)).toEqual(['indicators', 0]);
    }
    expect(program.operations.at(-1)?.repeated).toBe(true);
  });

  it('the tags of an answer are those of each entity that a router asks for', async () => {
    await using program = await open(ALL_FORMS);
    const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) {
      ... on Indicator { observation(countryCode: "KE") { value } } ... on Country { observation(metricKey: "two") { value } } } }`;
    const representations = [
      { __typename: 'Indicator', key: 'one' },
      { __typename: 'Country', code: 'UG' },
    ];
    const { extensions, upstream } = await program.ask(query, { variables: { representations } });
    expect(extensions).not.toHaveProperty('apolloCacheTags');
    expect([extensions.apolloEntityCacheTags, upstream.calls]).toEqual([
      [
        ['country-KE', 'indicator-one', 'source-world%20bank'],
        ['country-UG', 'indicator-two'],
      ],
      1,
    ]);
  });

  it('the tags of an answer give way to one for all where no header has room for them', async () => {
    await using program = await open({ CACHE_TAGS: 'cache-tag' });
    const keys = Array.from(
      { length: 100 },
      (_, i) => `a_key_of_an_indicator_that_is_long_${'x'.repeat(60)}_${i}`,
    );
    const query = `{ observations(countryCodes: ["KE"], metricKeys: ${JSON.stringify(keys)}, latest: true) { value } }`;
    const { headers, extensions, upstream } = await program.ask(query);
    expect(headers.get('cache-tag')).toBe('all-figures');
    expect([headers.get('surrogate-key'), extensions.apolloCacheTags, upstream.calls]).toEqual([
      null,
      undefined,
      // No address has room for all of them.
      2,
    ]);
  });

  it('the tags of an answer are left out of one with errors, of several in one, and where nobody asks for them', async () => {
    await using program = await open({ CACHE_TAGS: 'Cache-Tag' });
    const failed =
      '{ country(code: "KE") { a: observation(metricKey: "one") { value } b: observation(metricKey: "a b") { value } } }';
    expect((await program.ask(failed)).headers.get('cache-tag')).toBeNull();
    const response = await fetch(program.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${program.sandbox.keys.team}` },
      body: JSON.stringify([{ query: observation('one') }, { query: observation('two') }]),
    });
    expect([response.status, response.headers.get('cache-tag')]).toEqual([200, null]);
    await using plain = await open({});
    const { headers, extensions } = await plain.ask(observation('one'));
    expect([headers.get('cache-tag'), headers.get('surrogate-key'), Object.keys(extensions)]).toEqual([
      null,
      null,
      ['upstream'],
    ]);
  });
});

describe('a source that has run again', () => {
  const SOURCES = '{ sources { key lastSuccessfulRefresh } }';

  it('a source that has run again is told to the address for that, by its tag, once', async () => {
    await using cache = await openCache();
    const runs = { one: '2026-01-01T00:00:00Z', two: '2026-01-01T00:00:00Z' };
    const sources = () =>
      Object.entries(runs).map(([source, last_successful_refresh]) => ({ source, last_successful_refresh }));
    await using program = await open(
      { PURGE_URL: cache.url, PURGE_KEY: 'secret', CACHE_TTL_SECONDS: '0', CACHE_URL: 'none' },
      sources,
    );
    // What ran before the first look is nobody's news.
    for (const _ of [1, 2]) await program.ask(SOURCES);
    runs.two = '2026-01-02T00:00:00Z';
    const purged = cache.purged();
    const { upstream } = await program.ask(SOURCES);
    await purged;
    await program.ask(SOURCES);
    expect(cache.purges).toEqual([
      {
        authorization: 'Bearer secret',
        header: 'etl-status source-two all-figures',
        body: { tags: ['etl-status', 'source-two', 'all-figures'] },
      },
    ]);
    expect([upstream.calls, program.problems]).toEqual([1, []]);
  });

  it('a source that has run again is asked anew for its figures, however young those cached are, and no other source is', async () => {
    await using cache = await openCache();
    await using program = await openTimedProgram({ startMs: AFTER_RUNS, env: { PURGE_URL: cache.url } });
    const [changed, unchanged] = [sourceOf('population_total'), sourceOf('idps_total')];
    const callsOf = async (...queries: readonly string[]) => {
      const calls = [];
      for (const query of queries) calls.push((await program.ask(query)).upstream.calls);
      return calls;
    };
    expect(await callsOf(SOURCES)).toEqual([1]);
    program.pass(200);
    // The catalogue names the sources that may bring an indicator.
    expect(await callsOf('{ indicators { key } }', changed, unchanged)).toEqual([1, 1, 1]);
    const { data } = await program.ask(changed);
    program.pass(101);
    program.sandbox.refresh(data.country.observation.source.key);
    expect(await callsOf(changed, unchanged)).toEqual([0, 0]);
    const purged = cache.purged();
    expect(await callsOf(SOURCES)).toEqual([1]);
    await purged;
    const { extensions } = await program.ask(changed, { headers: { 'x-explain': '1' } });
    expect(extensions.explain).toMatchObject({ calls: 1 });
    expect(await callsOf(unchanged, changed, changed, unchanged)).toEqual([0, 1, 0, 0]);
    const tags = ['etl-status', `source-${data.country.observation.source.key}`, 'all-figures'];
    expect(cache.purges.map(({ body }) => body)).toEqual([{ tags }]);
  });

  it.each([
    ['gateways over one file', namedStore],
    ['workers of one program', runFile],
  ])(
    'a source that has run again is seen by any of the %s, told once, and asked anew by all, once',
    async (_, named) => {
      await using cache = await openCache();
      await using file = await sharedFile(named);
      const options: { readonly env?: object } = file.options;
      const env = { PURGE_URL: cache.url, ...options.env };
      await using one = await openTimedProgram({ ...options, startMs: AFTER_RUNS, env });
      const shared = { clock: one.clock, upstreamUrl: one.service.url };
      await using other = await openTimedProgram({ ...options, ...shared, env });
      const [changed, unchanged] = [sourceOf('population_total'), sourceOf('idps_total')];
      const callsOf = async (program: typeof one, ...queries: readonly string[]) => {
        const calls = [];
        for (const query of queries) calls.push((await program.ask(query)).upstream.calls);
        return calls;
      };
      await one.ask(SOURCES);
      one.pass(200);
      expect(await callsOf(one, '{ indicators { key } }', changed, unchanged)).toEqual([1, 1, 1]);
      const { data } = await other.ask(changed);
      // The other has them at hand now, and the answer as bytes.
      expect(await callsOf(other, changed, unchanged, unchanged)).toEqual([0, 0, 0]);
      one.pass(101);
      one.sandbox.refresh(data.country.observation.source.key);
      const purged = cache.purged();
      // What it looked like before, the other knows from the store alone.
      expect(await callsOf(other, SOURCES)).toEqual([1]);
      await purged;
      expect(await callsOf(one, unchanged, changed, changed)).toEqual([0, 1, 0]);
      expect(await callsOf(other, unchanged, changed)).toEqual([0, 0]);
      one.pass(301);
      expect(await callsOf(one, SOURCES)).toEqual([1]);
      const tags = ['etl-status', `source-${data.country.observation.source.key}`, 'all-figures'];
      expect(cache.purges.map(({ body }) => body)).toEqual([{ tags }]);
    },
  );

  it('a record that has changed is told to the address for that, by its own tag alone', async () => {
    await using cache = await openCache();
    const signals = { country: { code: 'KE' }, observations: [] as unknown[] };
    await using program = await open(
      { PURGE_URL: cache.url, CACHE_TTL_SECONDS: '0', CACHE_URL: 'none' },
      undefined,
      signals,
    );
    const ask = () => program.ask('{ country(code: "KE") { signals { record } } }');
    for (const _ of [1, 2]) await ask();
    signals.observations.push({ metric_key: 'one', value: 1 });
    const purged = cache.purged();
    const { upstream } = await ask();
    await purged;
    expect([upstream.calls, cache.purges.map(({ body }) => body)]).toEqual([1, [{ tags: ['signals-KE'] }]]);
  });

  it('a source that has run again is the problem of nobody but the operator if the address refuses it', async () => {
    await using cache = await openCache(500);
    let run = 0;
    const sources = () => [{ source: 'one', last_successful_refresh: `2026-01-0${++run}T00:00:00Z` }];
    await using program = await open(
      { PURGE_URL: cache.url, CACHE_TTL_SECONDS: '0', CACHE_URL: 'none' },
      sources,
    );
    await program.ask(SOURCES);
    const { data, errors } = await program.ask(SOURCES);
    expect([data.sources, errors]).toEqual([
      [{ key: 'one', lastSuccessfulRefresh: '2026-01-02T00:00:00Z' }],
      [],
    ]);
    await expect.poll(() => program.problems.map(String)).toEqual(['Error: PURGE_URL answered 500.']);
  });
});
