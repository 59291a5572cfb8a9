import { describe, expect, it } from 'vitest';
import { openFolder, openIssuing } from '../../issued/issuing.ts';
import { freePort } from '../../support/free-port.ts';
import { hasProgram } from '../../support/programs.ts';
import { startVarnish } from '../../support/varnish.ts';

const OF_CHANGED =
  '{ country(code: "KE") { observation(metricKey: "population_total") { value source { key } } } }';
const UNCHANGED = [
  '{ country(code: "KE") { observation(metricKey: "idps_total") { value source { key } } } }',
  '{ countries { name } }',
  '{ country(code: "KE") { profile { record } } }',
];

describe.skipIf(!hasProgram('varnishd', '-V'))('Varnish before the gateway', () => {
  it('a cache that Varnish keeps by our tags drops what has read a source that has run again, and only that', async () => {
    const port = await freePort();
    using folder = openFolder();
    await using program = await openIssuing({
      ...folder,
      env: {
        PUBLIC_ANSWERS: 'on',
        CACHE_TAGS: 'Surrogate-Key',
        PURGE_URL: `http://127.0.0.1:${port}/purge`,
        PURGE_KEY: 'of-the-purges',
      },
    });
    await using varnish = await startVarnish(Number(new URL(program.url).port), port, 'of-the-purges');
    const issued = await program.issue({ name: 'page' });

    async function ask(query: string, key: string = issued) {
      const response = await fetch(`${varnish.url}/graphql?query=${encodeURIComponent(query)}`, {
        headers: { accept: 'application/json', authorization: `Bearer ${key}` },
      });
      const { data } = await response.json();
      return { data, cache: response.headers.get('x-cache') };
    }
    const cachesOf = async (queries: readonly string[]) => {
      const caches = [];
      for (const query of queries) caches.push((await ask(query)).cache);
      return caches;
    };
    const all = [OF_CHANGED, ...UNCHANGED];
    expect(await cachesOf(all)).toEqual(all.map(() => 'MISS'));
    await program.ask('{ sources { key } }');
    program.requests();
    expect(await cachesOf(all)).toEqual(all.map(() => 'HIT'));
    expect(program.requests()).toEqual([]);
    const { data } = await ask(OF_CHANGED);
    // Another key finds nothing of it, and what is private isn't kept.
    const other = await program.issue({ name: 'other' });
    expect((await ask(OF_CHANGED, other)).cache).toBe('MISS');
    for (const _ of [1, 2]) expect((await ask(OF_CHANGED, program.sandbox.keys.team)).cache).toBe('MISS');
    // Nor does a stranger drop anything.
    for (const authorization of ['', 'Bearer ', 'Bearer guessed']) {
      const headers = { 'surrogate-key': 'all-figures country-KE', authorization };
      expect((await fetch(`${varnish.url}/purge`, { method: 'POST', headers })).status).toBe(403);
    }
    expect((await ask(OF_CHANGED)).cache).toBe('HIT');

    program.pass(301);
    program.sandbox.refresh(data.country.observation.source.key);
    program.requests();
    const { upstream } = await program.ask('{ sources { key } }');
    expect([upstream.calls, program.requests()]).toEqual([1, ['GET /v1/platform/etl-status']]);
    await expect.poll(async () => (await ask(OF_CHANGED)).cache).toBe('MISS');
    expect(await cachesOf(UNCHANGED)).toEqual(UNCHANGED.map(() => 'HIT'));
    expect(program.problems).toEqual([]);
  });
});
