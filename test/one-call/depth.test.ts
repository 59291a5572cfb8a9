import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';
import { settled } from '../support/quiet.ts';

const BATCH_HOLD_MS = 5_000;

/** A service that takes a moment for everything: loads at different depths end at different times. */
const program = await openProgram({
  sandbox: { latencyMs: 15 },
  env: { BATCH_HOLD_MS: String(BATCH_HOLD_MS) },
});
const { ask, sandbox } = program;

beforeEach(() => {
  sandbox.faults.clear();
  sandbox.log.clear();
});
afterAll(() => program[Symbol.asyncDispose]());

const FIGURE = 'observation(metricKey: "population_total") { value }';
const OTHER = 'observation(metricKey: "life_expectancy") { value }';

describe('the figures of an operation travel in one call', () => {
  const shapes: Record<string, { query: string; variables?: Record<string, unknown> }> = {
    'a country beside all countries': {
      query: `{ country(code: "KE") { ${FIGURE} } countries { ${OTHER} } }`,
    },
    'under aliases': {
      query: `{ country(code: "KE") { a: ${FIGURE} b: ${OTHER} } other: country(code: "NG") { c: ${FIGURE} } }`,
    },
    'below indicators': {
      query:
        '{ indicators(keys: ["population_total", "life_expectancy"]) { name observation(countryCode: "KE") { value } } ' +
        `country(code: "NG") { ${FIGURE} } }`,
    },
    'below the country of a listing': {
      query: `{ tickers(exchangeCode: "JSE") { country { ${FIGURE} } } country(code: "KE") { ${OTHER} } }`,
    },
    'below the tickers of a country': {
      query: `{ country(code: "KE") { ${FIGURE} tickers { country { ${OTHER} } } } }`,
    },
    'below the country of an office': {
      query: `{ country(code: "KE") { ${FIGURE} offices { country { ${OTHER} } } } }`,
    },
    'below entities': {
      query:
        'query ($refs: [_Any!]!) { _entities(representations: $refs) { ' +
        `... on Country { ${FIGURE} } ... on Indicator { name observation(countryCode: "KE") { value } } ` +
        `... on Ticker { country { ${OTHER} } } } country(code: "NG") { ${FIGURE} } }`,
      variables: {
        refs: [
          { __typename: 'Country', code: 'ke' },
          { __typename: 'Indicator', key: 'gdp_current_usd' },
          { __typename: 'Ticker', exchangeCode: 'JSE', symbol: 'SYN001' },
        ],
      },
    },
    'in fragments, at two depths': {
      query: `{ countries { ...Name ...Figures } country(code: "KE") { ...Figures } }
        fragment Name on Country { name } fragment Figures on Country { ... on Country { ${FIGURE} } tickers { country { ${OTHER} } } }`,
    },
    'under @skip and @include': {
      query: `query ($yes: Boolean!, $no: Boolean = false) {
        country(code: "KE") { ... @include(if: $yes) { a: ${FIGURE} } ... @skip(if: $yes) { b: ${OTHER} } }
        countries @include(if: $no) { ${FIGURE} }
        tickers(exchangeCode: "JSE") @skip(if: $no) { country @include(if: $yes) { ${OTHER} } } }`,
      variables: { yes: true },
    },
    'behind nodes': {
      query: `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Country { ${FIGURE} } ... on Indicator { name observation(countryCode: "NG") { value } } } }`,
      variables: {
        ids: [
          ['Country', 'KE'],
          ['Indicator', 'life_expectancy'],
        ].map((id) => Buffer.from(JSON.stringify(id)).toString('base64url')),
      },
    },
    'named by their own lists': {
      query: `{ a: observations(metricKeys: ["population_total"], latest: true) { value }
        b: observations(countryCodes: ["KE"], metricKeys: ["life_expectancy"], latest: true) { value } }`,
    },
    'latest figures beside a series': {
      query: `{ country(code: "KE") { ${FIGURE} observations(metricKeys: ["life_expectancy"]) { year } }
        country2: country(code: "NG") { ${FIGURE} } }`,
    },
  };

  it.each(Object.entries(shapes))(
    'the figures of an operation travel in one call: %s',
    async (_, { query, variables }) => {
      const reply = await ask(query, variables === undefined ? {} : { variables });
      expect(reply.errors).toEqual([]);
      expect(reply.upstream.byRoute['/v1/data']).toBe(1);
      expect(sandbox.log.filter(({ path }) => path === '/v1/data')).toHaveLength(1);
    },
  );
});

describe('what holds the batch back', () => {
  it('what holds the batch back is not a load that cannot lead to figures, however slow', async () => {
    sandbox.faults.set({ route: '/v1/platform/etl-status', kind: 'hang' });
    const leaving = new AbortController();
    const reply = ask(`{ sources { key } countries { name } country(code: "KE") { ${FIGURE} } }`, {
      signal: leaving.signal,
    });
    await expect.poll(() => sandbox.log.filter(({ path }) => path === '/v1/data').length).toBe(1);
    leaving.abort();
    await expect(reply).rejects.toThrow('aborted');
  });

  it('what holds the batch back is not a load that fails', async () => {
    sandbox.faults.set({ route: '/v1/markets/tickers', kind: 'status', status: 403 });
    const reply = await ask(`{ tickers { country { ${OTHER} } } country(code: "KE") { ${FIGURE} } }`);
    expect(reply.data).toMatchObject({
      tickers: null,
      country: { observation: { value: expect.any(Number) } },
    });
    expect(reply.errors.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN']);
    expect(reply.upstream.byRoute).toEqual({ '/v1/markets/tickers': 1, '/v1/data': 1 });
  });

  it('what holds the batch back is a load that could lead to figures but hangs, no longer than the bound', async () => {
    sandbox.faults.set({ route: '/v1/countries/{code}/profile', kind: 'hang' });
    const leaving = new AbortController();
    const below = 'profile { indicators { indicator { observation(countryCode: "KE") { value } } } }';
    const reply = ask(`{ country(code: "KE") { ${below} ${FIGURE} } }`, {
      signal: leaving.signal,
    });
    const paths = () => sandbox.log.map(({ path }) => path);
    await expect.poll(paths).toEqual(['/v1/countries/KE/profile']);
    await settled(program);
    program.timers.pass(BATCH_HOLD_MS - 1);
    await settled(program);
    expect(paths()).toEqual(['/v1/countries/KE/profile']);
    program.timers.pass(1);
    await expect.poll(paths).toEqual(['/v1/countries/KE/profile', '/v1/data']);
    leaving.abort();
    await expect(reply).rejects.toThrow('aborted');
  });
});
