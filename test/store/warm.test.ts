import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { WHOLE_GRAPH } from '../support/golden-settings.ts';
import { openProgram } from '../support/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'country-graph-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const STORES: Record<string, () => string> = {
  memory: () => 'memory:',
  SQLite: () => `sqlite:${join(folder, `${files++}.sqlite`)}`,
};

/** Calls that are asked for again all the same, with the reason. */
const ASKED_AGAIN: Record<string, readonly string[]> = {
  // The state of the service now is not a thing to hold.
  'platform/public': ['GET /health'],
  // maxAge: 0
  'observations/freshness': [
    'GET /v1/data?country_codes=KE,NG&latest=true&limit=1000&metric_keys=life_expectancy,population_total',
  ],
};

const QUERIES = fileURLToPath(new URL('../queries/', import.meta.url));
const names = globSync('*/*.graphql', { cwd: QUERIES })
  .map((file) => file.replace('.graphql', ''))
  // Subscriptions are refused with the address of theirs, and have no price.
  .filter((name) => !name.startsWith('live/'))
  .sort();

describe.for(Object.keys(STORES))('with %s, an operation asked again', (store) => {
  // The rows of a file are test/store/store.test.ts's to hold: some of the queries show that all of it comes to them.
  const asked = names.filter((_, i) => store === 'memory' || i % 4 === 0);

  it.for(asked)('an operation asked again costs nothing and says the same: %s', async (name) => {
    await using program = await openProgram({ env: { ...WHOLE_GRAPH, CACHE_URL: STORES[store]?.() ?? '' } });
    const query = readFileSync(join(QUERIES, `${name}.graphql`), 'utf8');
    const file = join(QUERIES, `${name}.variables.json`);
    const variables = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
    const first = await program.ask(query, { variables });
    program.requests();
    const explained = await program.ask(query, { variables, headers: { 'x-explain': '1' } });
    expect(program.requests()).toEqual([]);
    const again = await program.ask(query, { variables });
    const asked = program.requests();
    expect(explained.extensions).toMatchObject({ explain: { calls: asked.length } });
    expect(again.errors).toEqual(first.errors);
    if (name !== 'platform/quota') expect(again.data).toEqual(first.data);
    expect(asked).toEqual(ASKED_AGAIN[name] ?? []);
    expect(again.upstream.calls).toBe(asked.length);
    expect(again.upstream.stale).toBeUndefined();
  });
});

describe.for(Object.keys(STORES))('with %s, what the service refuses', (store) => {
  const TICKERS = '/v1/markets/tickers';

  /**
   * Asks twice of a service that takes no parameters on a route.
   * @returns the codes of errors and the requests of each
   */
  async function askTwice(route: string, query: string, patch = (body: unknown) => body) {
    await using program = await openProgram({ env: { CACHE_URL: STORES[store]?.() ?? '' } });
    const { faults } = program.sandbox;
    faults.set({ kind: 'status', status: 422, route, when: (asked) => Object.keys(asked).length > 0 });
    faults.set({ kind: 'shape', route, patch });
    const asked: { codes: string[]; requests: string[] }[] = [];
    for (let time = 0; time < 2; time += 1) {
      const { errors } = await program.ask(query);
      asked.push({
        codes: errors.map(({ extensions }) => extensions.code),
        requests: program.requests().map((request) => request.replace('GET ', '')),
      });
    }
    return asked;
  }

  it('what the service refuses is no way to a listing that is held: it takes the list alone', async () => {
    const one = '{ ticker(exchangeCode: "CSE", symbol: "SYN003") { name } }';
    expect(await askTwice(TICKERS, one)).toEqual([
      { codes: [], requests: [TICKERS] },
      { codes: [], requests: [] },
    ]);
  });

  it('what the service refuses is not asked again for a listing that may not have come, nor for others that may not have', async () => {
    const many = `{ one: ticker(exchangeCode: "CSE", symbol: "NONE") { name } tickers(exchangeCode: "CSE") { name }
      ngx: ticker(exchangeCode: "NO", symbol: "NONE") { name } ke: tickers(countryCode: "KE") { name } }`;
    const [first, second] = await askTwice(TICKERS, many);
    expect(first?.codes).toEqual(Array.from({ length: 4 }, () => 'UPSTREAM_INCOMPLETE'));
    expect(new Set(first?.requests).size).toBe(first?.requests.length);
    expect(second).toEqual({ codes: first?.codes, requests: [] });
  });

  it('what the service refuses is not asked again for indicators of a category that their list does not tell', async () => {
    // biome-ignore lint/suspicious/noExplicitAny: as the sandbox has it
    const withoutCategory = ({ data, ...others }: any) => ({
      ...others,
      data: data.map(({ category: _, ...item }: { category: string }) => item),
    });
    const asked = await askTwice(
      '/v1/indicators',
      '{ indicators(category: "economy") { key } }',
      withoutCategory,
    );
    expect(asked[0]?.codes).toEqual(['BAD_USER_INPUT']);
    expect(asked[0]?.requests).toEqual(['/v1/indicators', '/v1/indicators?category=economy']);
    expect(asked[1]).toEqual({ codes: ['BAD_USER_INPUT'], requests: [] });
  });
});
