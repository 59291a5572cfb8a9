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

/** What is asked for again all the same, and why. */
const ASKED_AGAIN: Record<string, readonly string[]> = {
  // How the service is doing now is not a thing to hold.
  'platform/public': ['GET /health'],
  // maxAge: 0
  'observations/freshness': [
    'GET /v1/data?country_codes=KE,NG&latest=true&limit=1000&metric_keys=life_expectancy,population_total',
  ],
};

const QUERIES = fileURLToPath(new URL('../queries/', import.meta.url));
const names = globSync('*/*.graphql', { cwd: QUERIES })
  .map((file) => file.replace('.graphql', ''))
  // Subscriptions are told where to go, and have no price.
  .filter((name) => !name.startsWith('live/'))
  .sort();

describe.for(Object.keys(STORES))('with %s, an operation asked again', (store) => {
  it.for(names)('costs nothing and says the same: %s', async (name) => {
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
