import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { WHOLE_GRAPH } from '../support/golden-settings.ts';
import { openProgram, type Program, type Reply } from '../support/program.ts';

/*
 * Cost of each field of each record if the service leaves it out, renames it, or sends null or something else
 * in its place: `mutations.txt`, to be read like a bill. `UPDATE_GOLDEN=1 vitest run test/records/mutations`
 * writes it anew.
 */

// biome-ignore lint/suspicious/noExplicitAny: bodies of whatever the sandbox sends
type Body = any;
type Record_ = Record<string, unknown>;

interface Case {
  readonly route: string;
  /** Name in the table, if that isn't the route. */
  readonly name?: string;
  /** The records of a body, by their names in the table. */
  readonly records: Readonly<Record<string, (body: Body) => Record_>>;
  /** Shows all that the records lead to. */
  readonly query: string;
  readonly variables?: (body: Body) => Record_;
  readonly path?: string;
  readonly sandbox?: SandboxOptions;
}

const FIGURE =
  'year period asOfPeriod locationName value unit valueStatus isModelled estimateLow estimateHigh datasetVersion retrievedAt';
const POLICY = 'wikidataId title documentType status publishedAt source { key } country { code }';
const OFFICES =
  '{ country(code: "KE") { offices { name roleType country { code } terms { holder startDate endDate status } } } }';

const CASES: readonly Case[] = [
  { route: '/health', records: { body: (body) => body }, query: '{ health { status } }' },
  {
    route: '/v1/platform/version',
    records: { data: ({ data }) => data },
    query: '{ platformVersion { version } }',
  },
  {
    route: '/v1/platform/etl-status',
    records: { 'data[]': ({ data }) => data[1] },
    query: `query ($key: String!) { sources { key lastSuccessfulRefresh nextRun }
      one: source(key: $key) { key lastSuccessfulRefresh nextRun } }`,
    variables: ({ data }) => ({ key: data[1].source }),
  },
  {
    route: '/v1/countries',
    records: { 'data[]': ({ data }) => data[1] },
    query: `query ($code: CountryCode!) { countries { code name iso3 officialName capital region subregion }
      one: country(code: $code) { code name capital } some: countries(codes: [$code, "ET"]) { code }
      observations(metricKeys: ["population_total"], latest: true) { value country { code } } }`,
    variables: ({ data }) => ({ code: data[1].id }),
  },
  {
    route: '/v1/countries/{code}/profile',
    path: '/v1/countries/KE/profile',
    records: { data: ({ data }) => data, 'data.indicators[]': ({ data }) => data.indicators[1] },
    query: `{ country(code: "KE") { profile { country { code }
      indicators { key name unit value year period source { key } indicator { key } } } } }`,
  },
  {
    route: '/v1/countries/{code}/signals',
    path: '/v1/countries/KE/signals',
    records: {
      data: ({ data }) => data,
      'data.country': ({ data }) => data.country,
      'data.observations[]': ({ data }) => data.observations[1],
      'data.fx_rates[]': ({ data }) => data.fx_rates[0],
      'data.commodity_benchmarks[]': ({ data }) => data.commodity_benchmarks[1],
      'data.disaster_alerts[]': ({ data }) => data.disaster_alerts[0],
    },
    query: `{ country(code: "KE") { signals { country { code name }
      observations { ${FIGURE} country { code name } indicator { key name } source { key } }
      fxRates { source { key } baseCurrency quoteCurrency countries { code } rateDate rate }
      commodityBenchmarks { commodityKey priceValue priceDate }
      disasterAlerts { eventKey eventType name description alertLevel alertScore severityValue severityText severityUnit
        eventFromAt eventToAt reportUrl source { key } } } } }`,
  },
  {
    route: '/v1/data',
    path: '/v1/data?country_codes=KE,NG&metric_keys=life_expectancy,population_total&latest=true',
    records: { 'data[]': ({ data }) => data[1] },
    query: `{ countries(codes: ["KE", "NG"]) {
      a: observation(metricKey: "life_expectancy") { ...F } b: observation(metricKey: "population_total") { ...F } } }
      fragment F on Observation { ${FIGURE} country { code name } indicator { key name } source { key } }`,
  },
  {
    route: '/v1/indicators',
    records: { 'data[]': ({ data }) => data[1] },
    query: `query ($key: String!, $category: String!) { indicators { key name unit category hasData sources { key } }
      one: indicator(key: $key) { key name } some: indicators(keys: [$key, "life_expectancy"]) { key }
      alike: indicators(category: $category) { key } held: indicators(hasData: true) { key } }`,
    variables: ({ data }) => ({ key: data[1].metric_key, category: data[1].category }),
  },
  {
    route: '/v1/markets/tickers',
    records: { 'data[]': ({ data }) => data[1] },
    query: `query ($exchange: String!, $symbol: String!, $country: CountryCode!, $kind: String!) {
      tickers { exchangeCode symbol name instrumentType sector industry country { code } session closePrice changePercent }
      one: ticker(exchangeCode: $exchange, symbol: $symbol) { name }
      exchange: tickers(exchangeCode: $exchange) { symbol } kind: tickers(instrumentType: $kind) { symbol }
      country(code: $country) { tickers { symbol } } }`,
    path: '/v1/markets/tickers?limit=500',
    variables: ({ data }) => ({
      exchange: data[1].exchange_code,
      symbol: data[1].symbol,
      country: data[1].country_code,
      kind: data[1].instrument_type,
    }),
  },
  {
    route: '/v1/government/structure/{code}',
    path: '/v1/government/structure/KE',
    records: {
      data: ({ data }) => data,
      'data.offices[]': ({ data }) => data.offices[1],
      'data.offices[].terms[]': ({ data }) => data.offices[1].terms[0],
    },
    query: OFFICES,
  },
  {
    route: '/v1/government/structure/{code}',
    path: '/v1/government/structure/KE',
    records: { data: ({ data }) => data, 'data.terms[]': ({ data }) => data.terms[0] },
    name: '/v1/government/structure/{code}, a flat list',
    query: OFFICES,
    sandbox: { government: 'terms' },
  },
  {
    route: '/v1/trade/overview/{code}',
    path: '/v1/trade/overview/KE',
    records: { data: ({ data }) => data, 'data.country': ({ data }) => data.country },
    query: '{ country(code: "KE") { tradeOverview { country { code } } } }',
  },
  {
    route: '/v1/trade/flows',
    path: '/v1/trade/flows?reporter_country_code=KE&limit=1000',
    records: { 'data[]': ({ data }) => data[1] },
    query: `{ tradeFlows(reporterCode: "KE") { ...F } country(code: "KE") { tradeFlows { ...F } } }
      fragment F on TradeFlow { reporterCode partnerCode productCode flowType year }`,
  },
  {
    route: '/v1/trade/partners',
    path: '/v1/trade/partners?reporter_country_code=KE',
    records: { 'data[]': ({ data }) => data[1] },
    query: '{ country(code: "KE") { tradePartners { partnerCode } } }',
  },
  {
    route: '/v1/trade/products',
    path: '/v1/trade/products?reporter_country_code=KE',
    records: { 'data[]': ({ data }) => data[1] },
    query: '{ country(code: "KE") { tradeProducts { productCode } } }',
  },
  {
    route: '/v1/policies',
    path: '/v1/policies?country_code=KE&limit=500',
    records: { 'data[]': ({ data }) => data[1] },
    query: `{ policies(countryCode: "KE") { ${POLICY} } country(code: "KE") { policies { ${POLICY} } } }`,
  },
  {
    route: '/v1/policies',
    path: '/v1/policies?document_type=constitution&limit=500',
    name: '/v1/policies, of all countries',
    records: { 'data[]': ({ data }) => data[1] },
    query: `{ policies(documentType: CONSTITUTION) { ${POLICY} } }`,
  },
  {
    route: '/v1/policies/country/{code}',
    path: '/v1/policies/country/KE',
    records: {
      data: ({ data }) => data,
      'data.country': ({ data }) => data.country,
      'data.latest_policy': ({ data }) => data.latest_policy,
      'data.recent_policies[]': ({ data }) => data.recent_policies[1],
    },
    query: `{ country(code: "KE") { policyOverview { country { code } activePolicyCount
      latestPolicy { ${POLICY} } recentPolicies { ${POLICY} } } } }`,
  },
];

const MUTATIONS: Readonly<Record<string, (record: Record_, field: string) => void>> = {
  'left out': (record, field) => void delete record[field],
  renamed(record, field) {
    record[`renamed_${field}`] = record[field];
    delete record[field];
  },
  null(record, field) {
    record[field] = null;
  },
  retyped(record, field) {
    const value = record[field];
    record[field] = typeof value === 'string' || value === null ? 404 : 'something else';
  },
  /** A whole number that no 32 bits hold. */
  huge(record, field) {
    record[field] = 2.025e303;
  },
};

/** Difference in an answer, at paths in which any place in a list is `*`. */
interface Cost {
  readonly path: string;
  readonly what: 'null' | 'changed' | 'a row less' | 'other rows' | 'gone';
}

function costOf(before: unknown, after: unknown, path = ''): Cost[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) return costOfList(before, after, path);
  // Leaves out things that a row names by a key alone: they are fields of the row.
  const isGone =
    isThing(before) && !/^\{"(key|code)":"[^"]*"\}$/.test(JSON.stringify(before)) && after === null;
  if (!(isThing(before) && isThing(after)))
    return [{ path, what: isGone ? 'gone' : after === null ? 'null' : 'changed' }];
  return Object.entries(before).flatMap(([name, value]) =>
    costOf(value, (after as Record_)[name], path === '' ? name : `${path}.${name}`),
  );
}

/** Rows are lost or changed one at a time: if more than one is different, that is too dear. */
function costOfList(before: readonly unknown[], after: readonly unknown[], path: string): Cost[] {
  if (after.length === 0) return [{ path, what: before.length > 1 ? 'gone' : 'a row less' }];
  if (before.length === after.length) {
    const rows = before
      .map((row, i) => costOf(row, after[i], `${path}.*`))
      .filter((costs) => costs.length > 0);
    return rows.length === 1 ? rows.flat() : [{ path, what: 'other rows' }];
  }
  const isOneLess = before.some((_, i) => JSON.stringify(before.toSpliced(i, 1)) === JSON.stringify(after));
  return [{ path, what: isOneLess ? 'a row less' : 'other rows' }];
}

function isThing(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Places at which null is the service's own word for there being nothing. */
const SAYS_NOTHING: ReadonlySet<string> = new Set([
  '/v1/countries/{code}/signals data.observations[].value',
  '/v1/markets/tickers data[].country_code',
  '/v1/markets/tickers data[].instrument_type',
]);

/** Blocks of which nothing specifies that they are there. */
const MAY_BE_MISSING: ReadonlySet<string> = new Set([
  '/v1/policies/country/{code} data.latest_policy',
  '/v1/policies/country/{code} data.recent_policies',
]);

/**
 * Fields without which a row doesn't tell its country or metric, so that it may be that of any pair of the
 * call.
 */
const OF_ANYBODY: ReadonlySet<string> = new Set([
  '/v1/data data[].country_code',
  '/v1/data data[].metric_key',
]);

const starred = (path: readonly unknown[]) =>
  path.map((step) => (typeof step === 'number' ? '*' : step)).join('.');

interface Outcome {
  readonly costs: readonly Cost[];
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

function outcomeOf(usual: Reply, reply: Reply): Outcome {
  const warnings = (reply.extensions.warnings ?? []) as { code: string; path: unknown[]; count: number }[];
  return {
    costs: costOf(usual.data, reply.data),
    errors: reply.errors.map(({ path = [], extensions }) => `${extensions.code} at ${starred(path)}`),
    warnings: warnings.map(
      ({ code, path, count }) => `${code} at ${starred(path)}${count > 1 ? ` (${count})` : ''}`,
    ),
  };
}

function wordsOf({ costs, errors, warnings }: Outcome): string {
  const told = [
    ...costs.map(({ path, what }) => `${path} ${what === 'null' ? 'is null' : what}`),
    ...errors,
    ...warnings,
  ];
  return told.length === 0 ? 'nothing' : [...new Set(told)].join('; ');
}

/** Cost of each mutation of each field, by record, field and mutation. */
async function tableOf({ route, path = route, records, query, variables, sandbox }: Case) {
  await using program: Program = await openProgram({
    env: WHOLE_GRAPH,
    ...(sandbox === undefined ? {} : { sandbox }),
  });
  const headers = { authorization: `Bearer ${program.sandbox.keys.team}` };
  const body: Body = await (await fetch(program.service.url + path, { headers })).json();
  const asking = variables === undefined ? {} : { variables: variables(body) };
  const usual = await program.ask(query, asking);
  expect(usual.errors).toEqual([]);
  const outcomes: { record: string; field: string; mutation: string; outcome: Outcome }[] = [];
  for (const [record, find] of Object.entries(records)) {
    for (const field of Object.keys(find(body))) {
      for (const [mutation, mutate] of Object.entries(MUTATIONS)) {
        const patch = (sent: Body) => {
          mutate(find(sent), field);
          return sent;
        };
        const heal = program.sandbox.faults.set({ kind: 'shape', route, patch });
        const outcome = outcomeOf(usual, await program.ask(query, asking));
        heal();
        outcomes.push({ record, field, mutation, outcome });
      }
    }
  }
  return outcomes;
}

describe('a field that is not as usual', async () => {
  const tables: { name: string; outcomes: Awaited<ReturnType<typeof tableOf>> }[] = [];
  // Runs one after the other: of too many at once, gateways refuse some that wait too long for their turn.
  for (const one of CASES) tables.push({ name: one.name ?? one.route, outcomes: await tableOf(one) });

  it('a field that is not as usual costs what the table says', () => {
    const lines = tables.flatMap(({ name, outcomes }) => {
      const fields = Map.groupBy(outcomes, ({ record, field }) => `${record}.${field}`);
      return [
        '',
        name,
        ...[...fields].flatMap(([field, mutations]) => {
          const alike = Map.groupBy(mutations, ({ outcome }) => wordsOf(outcome));
          return [...alike].map(
            ([words, ones]) => `  ${field} ${ones.map(({ mutation }) => mutation).join(', ')}: ${words}`,
          );
        }),
      ];
    });
    const text = `${lines.join('\n').trim()}\n`;
    const file = new URL('./mutations.txt', import.meta.url);
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, text);
    expect(text).toBe(readFileSync(file, 'utf8'));
  });

  it.each(tables)('a field that is not as usual is no fault of the gateway: $name', ({ outcomes }) => {
    const faults = outcomes.filter(({ outcome: { errors } }) =>
      errors.some((error) => error.startsWith('INTERNAL_SERVER_ERROR')),
    );
    expect(faults).toEqual([]);
  });

  it.each(tables)(
    'a field that is not as usual takes no row and no block without a word: $name',
    ({ name, outcomes }) => {
      const silent = outcomes.filter(
        ({ record, field, mutation, outcome: { costs, errors, warnings } }) =>
          !(mutation === 'null' && SAYS_NOTHING.has(`${name} ${record}.${field}`)) &&
          !(mutation !== 'retyped' && MAY_BE_MISSING.has(`${name} ${record}.${field}`)) &&
          costs.some(({ what }) => what !== 'null' && what !== 'changed') &&
          errors.length + warnings.length === 0,
      );
      expect(silent).toEqual([]);
    },
  );

  it.each(tables)(
    'a field that is not as usual takes no more than its row, its block or its pair: $name',
    ({ name, outcomes }) => {
      const dear = outcomes.filter(
        ({ record, field, outcome: { costs } }) =>
          !OF_ANYBODY.has(`${name} ${record}.${field}`) && costs.some(({ what }) => what === 'other rows'),
      );
      expect(dear).toEqual([]);
    },
  );
});
