import { describe, expect, it } from 'vitest';
import type { Fault } from '../../src/sandbox/faults.ts';
import { type Asking, openProgram, type Program, type ProgramOptions } from '../support/program.ts';
import { SEMANTIC_NON_NULL, semanticNulls } from '../support/semantic-nulls.ts';

/** An operation that selects each field which is marked, by `Type.field`. */
const OPERATIONS: Readonly<Record<string, string>> = {
  'Query.health': '{ health { status } }',
  'Query.platformVersion': '{ platformVersion { version } }',
  'Query.sources': '{ sources { key lastSuccessfulRefresh } }',
  'Query.countries': '{ countries { code name } }',
  'Query.countriesConnection':
    '{ countriesConnection(codes: ["KE", "ZZ"], first: 2) { nodes { name } totalCount } }',
  'Query.indicators': '{ indicators(category: "health", keys: ["life_expectancy", "nothing"]) { key name } }',
  'Query.indicatorsConnection':
    '{ indicatorsConnection(search: "life", last: 1) { edges { node { key } } } }',
  'Query.observations':
    '{ observations(countryCodes: ["KE", "ZZ"], metricKeys: ["population_total", "nothing"]) { value country { name } } }',
  'Query.observationsConnection':
    '{ observationsConnection(metricKeys: ["population_total"], latest: true, first: 2) { nodes { value } } }',
  'Query.tickers': '{ tickers(exchangeCode: "NGX") { symbol country { name } } }',
  'Query.tickersConnection': '{ tickersConnection(countryCode: "KE", first: 1) { nodes { symbol } } }',
  'Query.quota': '{ quota { plan state } }',
  'Query.nodes':
    '{ nodes(ids: ["Q291bnRyeTpLRQ", "nothing"]) { id ... on Country { name tickers { symbol } } } }',
  'Country.tickers': '{ country(code: "KE") { tickers { symbol } } }',
  'Country.observations':
    '{ countries(codes: ["KE", "NG"]) { observations(metricKeys: ["population_total"]) { value rank { of } } } }',
  'Country.observationsConnection':
    '{ country(code: "KE") { observationsConnection(metricKeys: ["life_expectancy"], first: 1) { nodes { value } } } }',
  'Country.record':
    '{ observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) { country { name record } } }',
  'Indicator.observations':
    '{ indicator(key: "population_total") { observations(countryCodes: ["KE"]) { value } } }',
  'Indicator.observationsConnection':
    '{ indicator(key: "population_total") { observationsConnection(countryCodes: ["KE"], first: 1) { nodes { value } } } }',
  'Indicator.record':
    '{ observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) { indicator { unit record } } }',
  'Source.record':
    '{ observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) { source { key nextRun record } } }',
};

const EMPTY: Fault = { kind: 'shape', patch: () => ({ data: [] }) };

interface Trouble {
  readonly faults?: readonly Fault[];
  readonly asking?: Asking;
  readonly options?: ProgramOptions;
  readonly mayBeCut?: boolean;
}

const LISTS = ['/v1/countries', '/v1/indicators', '/v1/platform/etl-status', '/v1/markets/tickers'];
const onLists = (fault: Fault): Fault[] => LISTS.map((route) => ({ ...fault, route }));

/** Troubles that may keep a field from its value, or leave it without one. */
const TROUBLES: Readonly<Record<string, Trouble>> = {
  'no key': { asking: { key: null } },
  'an unknown key (401)': { asking: { key: 'nobody' } },
  'a key without permission (403)': { asking: { key: 'demo-forbidden' } },
  'the minute spent (429)': {
    faults: [
      {
        kind: 'status',
        status: 429,
        body: { detail: "rate limit exceeded for plan 'free': 5 requests per minute" },
      },
    ],
  },
  'the month spent (429)': { asking: { key: 'demo-spent' } },
  'names refused (422)': { faults: [{ kind: 'status', status: 422 }] },
  'nothing found (404)': { faults: [{ kind: 'status', status: 404, body: { detail: 'Not found' } }] },
  'lists not found (404)': {
    faults: onLists({ kind: 'status', status: 404, body: { detail: 'Not found' } }),
  },
  'a stray 404': { faults: [{ kind: 'status', status: 404, body: '<h1>nginx</h1>' }] },
  'the service down (503)': { faults: [{ kind: 'status', status: 503 }] },
  'lists down (503)': { faults: onLists({ kind: 'status', status: 503 }) },
  'connections broken': { faults: [{ kind: 'reset' }] },
  'no answer in time': {
    faults: [{ kind: 'hang' }],
    options: { env: { UPSTREAM_TIMEOUT_MS: '50' } },
    mayBeCut: true,
  },
  'answers that are no JSON': { faults: [{ kind: 'garbage' }] },
  'answers of another shape': { faults: [{ kind: 'shape', patch: () => ({ data: 'no list' }) }] },
  'answers of null': { faults: [{ kind: 'shape', patch: () => ({ data: null }) }] },
  'rows that can’t be read': { faults: [{ kind: 'shape', patch: () => ({ data: [null, {}, 7] }) }] },
  'nothing there': { faults: [EMPTY] },
  'lists empty': { faults: onLists(EMPTY) },
  'objects empty': { faults: [{ kind: 'shape', patch: () => ({ data: {} }) }] },
  'too few calls left': { options: { env: { MAX_UPSTREAM_CALLS: '1' } } },
  'too few items allowed': { options: { env: { MAX_LIST_ITEMS: '1' } } },
};

async function ask(program: Program, query: string, { faults = [], asking, mayBeCut = false }: Trouble) {
  program.sandbox.faults.clear();
  program.sandbox.resetCounters();
  for (const fault of faults) program.sandbox.faults.set(fault);
  const reply = await program.ask(query, asking);
  const sent = program.requests().length;
  // A request that is given up soon after it has left is billed, and is read late, or never.
  if (!mayBeCut) expect(reply.upstream.calls).toBe(sent);
  return reply;
}

const open = ({ options }: Trouble) =>
  openProgram({ ...options, env: { UPSTREAM_RETRIES: '0', ...options?.env } });

describe('a field that is null only with an error', () => {
  it('a field that is null only with an error is marked where an operation here drives it, and nowhere else', () => {
    expect(SEMANTIC_NON_NULL).toEqual(Object.keys(OPERATIONS).sort());
  });

  it('a field that is null only with an error is told as such by the SDL, with the specification of the directive', async () => {
    await using program = await openProgram();
    const sdl = await (await fetch(new URL('/schema.graphql', program.url))).text();
    expect(sdl).toContain('directive @semanticNonNull(levels: [Int!]! = [0]) on FIELD_DEFINITION');
    expect(sdl).toContain('url: "https://specs.apollo.dev/nullability/v0.4", import: ["@semanticNonNull"]');
    expect(sdl.match(/@semanticNonNull(?![("])/g)).toHaveLength(SEMANTIC_NON_NULL.length);
    expect(program.requests()).toEqual([]);
  });

  const nulls = new Map<string, string[]>();

  it.for(Object.entries(TROUBLES))(
    'a field that is null only with an error has one with %s',
    async ([name, trouble]) => {
      const untold: string[] = [];
      await using program = await open(trouble);
      for (const query of Object.values(OPERATIONS)) {
        const reply = await ask(program, query, trouble);
        for (const { field, path, isTold } of semanticNulls(query, reply)) {
          if (isTold) nulls.set(field, [...(nulls.get(field) ?? []), name]);
          else untold.push(`${field} at ${path.join('.')}`);
        }
      }
      expect(untold).toEqual([]);
    },
  );

  it('a field that is null only with an error was null in some of that, each of them', () => {
    expect(SEMANTIC_NON_NULL.filter((field) => !nulls.has(field))).toEqual([]);
  });

  it('a field that is null only with an error is never null where nothing is wrong', async () => {
    await using program = await open({});
    for (const query of Object.values(OPERATIONS)) {
      const reply = await ask(program, query, {});
      expect(semanticNulls(query, reply)).toEqual([]);
    }
  });
});

/** Fields that are null without an error if the service has nothing: they may not be marked. */
const ABSENT: Readonly<Record<string, { readonly query: string; readonly trouble?: Trouble }>> = {
  'Query.country': { query: '{ field: country(code: "ZZ") { name } }' },
  'Query.indicator': { query: '{ field: indicator(key: "nothing") { name } }' },
  'Query.source': { query: '{ field: source(key: "nothing") { nextRun } }' },
  'Query.ticker': { query: '{ field: ticker(exchangeCode: "NGX", symbol: "NOTHING") { name } }' },
};

describe('a field that is null where there is nothing', () => {
  it.for(Object.entries(ABSENT))(
    'a field that is null where there is nothing has no error with it, and is not marked: %s',
    async ([field, { query }]) => {
      await using program = await open({});
      const reply = await ask(program, query, {});
      expect([reply.data, reply.errors]).toEqual([{ field: null }, []]);
      expect(SEMANTIC_NON_NULL).not.toContain(field);
    },
  );
});
