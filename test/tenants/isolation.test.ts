import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Tenants } from '../../src/keys/tenant.ts';
import { createTenantCache } from '../../src/keys/tenant-cache.ts';
import { movingClock } from '../support/moving-clock.ts';
import { openProgram } from '../support/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'country-graph-'));
afterAll(() => rmSync(folder, { recursive: true }));

const KEYS = ['secret-key-of-the-first', 'secret-key-of-the-second'];
const nameOf = (key: string | undefined) => `key ${KEYS.indexOf(key ?? '')}`;

/** A service whose every answer says which key asked. */
async function openTellingService() {
  let calls = 0;
  const server = createServer((request, response) => {
    calls += 1;
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://service');
    const whose = nameOf(request.headers.authorization?.replace('Bearer ', ''));
    const codes = searchParams.get('country_codes')?.split(',') ?? [];
    const keys = searchParams.get('metric_keys')?.split(',') ?? [];
    const rows =
      pathname === '/v1/data'
        ? codes.flatMap((code) =>
            keys.map((key) => ({
              country_code: code,
              country_name: whose,
              metric_key: key,
              metric_name: key,
              year: 2025,
              period: '2025',
              value: 1,
              unit: 'persons',
              source: 'a',
              value_status: 'reported',
              retrieved_at: '2026-01-01T00:00:00Z',
            })),
          )
        : [{ metric_key: 'population_total', name: whose }];
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: rows }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: () => calls,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const CODES = ['KE', 'NG', 'GH', 'ZA', 'EG', 'MA', 'TN', 'UG', 'TZ', 'RW'];

it('two keys, 200 operations interleaved: no answer crosses, and no key is in the store or in the metrics', async () => {
  await using service = await openTellingService();
  await using program = await openProgram({
    upstreamUrl: service.url,
    env: { CACHE_URL: `sqlite:${join(folder, 'two-keys.sqlite')}` },
  });
  const operation = async (i: number) => {
    const key = KEYS[i % 2] ?? '';
    const [one, other] = [CODES[i % 10], CODES[(i * 7 + 3) % 10]];
    const { data, errors } = await program.ask(
      `{ indicators { name } observations(countryCodes: ["${one}", "${other}"], metricKeys: ["population_total"], latest: true) { country { name } } }`,
      { key },
    );
    const told = [
      ...data.indicators,
      ...data.observations.map(({ country }: { country: unknown }) => country),
    ];
    expect(errors).toEqual([]);
    expect(told.length).toBeGreaterThanOrEqual(2);
    for (const { name } of told) expect(name).toBe(nameOf(key));
  };
  for (let i = 0; i < 200; i += 20) await Promise.all(Array.from({ length: 20 }, (_, n) => operation(i + n)));
  // Asks again once both have had everything: each was asked for once for each key.
  const before = service.calls();
  await Promise.all(Array.from({ length: 20 }, (_, n) => operation(n)));
  expect(service.calls()).toBe(before);

  const files = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'latin1'));
  const dump = files.join('');
  expect(dump).toContain('population_total');
  for (const key of KEYS) {
    expect(dump).not.toContain(key);
    expect(dump).not.toContain(Buffer.from(key).toString('base64'));
  }

  const metrics = await (await fetch(new URL('/metrics', program.url))).text();
  expect(metrics).toContain('country_graph_operations_total{type="query",outcome="ok"} 220\n');
  for (const key of KEYS) expect(metrics).not.toContain(key);
});

it('names at hand that are too many are dropped, and stand for the same all the same', async () => {
  const written = new Map<string, unknown>();
  const store = {
    peekMany: (keys: readonly string[]) => keys.map((key) => written.get(key)),
    isAllHere: true,
    getMany: async (keys: readonly string[]) => keys.map((key) => written.get(key)),
    async setMany(entries: readonly { key: string; value: unknown }[]) {
      for (const { key, value } of entries) written.set(key, value);
    },
    clear: async () => {},
  };
  const tenants = new Tenants(
    (key) => key,
    () => 1_000,
  );
  const tenantCache = createTenantCache({
    store: store as never,
    tenants,
    authTtlMs: 60_000,
    retentionMs: 60_000,
    maxNames: 3,
  });
  for (const key of ['one', 'other']) tenantCache.accept(tenants.named(key));
  const names = Array.from({ length: 10 }, (_, i) => `latest KE m${i}`);
  for (const key of ['one', 'other'])
    for (const name of names)
      tenantCache.save(tenants.named(key), new Map([[name, `${key} ${name}`]]), 1_000);
  await tenantCache.landed();
  for (const key of ['one', 'other'])
    for (const name of names)
      expect((await tenantCache.readOne(tenants.named(key), name))?.value).toBe(`${key} ${name}`);
});

it('keys that are made up take the place of none that the service has answered for', async () => {
  const env = { CACHE_URL: 'memory:', ANSWERS_MAX_BYTES: '0', UPSTREAM_RETRIES: '0' };
  const { clock, pass } = movingClock(Date.parse('2026-03-10T12:00:30Z'));
  await using program = await openProgram({ env, clock });
  const { ask, sandbox } = program;
  const figure =
    '{ observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) { value } }';
  const profile = '{ country(code: "KE") { profile { record } } }';
  // Of a key that may not do something, nothing more is asked there for a while, and nothing older is served.
  sandbox.faults.set({ route: '/v1/countries/{code}/profile', kind: 'status', status: 403 });
  expect((await ask(profile)).errors[0]?.extensions.code).toBe('FORBIDDEN');
  pass(0.5);
  await ask(figure);
  const before = sandbox.log.length;
  for (let i = 0; i < 2_500; i += 1) await ask('{ quota { state } }', { key: `made-up-${i}` });
  const held = await ask(figure);
  expect([held.errors, held.upstream.calls]).toEqual([[], 0]);
  expect((await ask(profile)).errors[0]?.extensions.code).toBe('FORBIDDEN');
  expect(sandbox.log).toHaveLength(before);
  const { data } = await ask('{ quota { callsThisMinute } }');
  expect(data.quota.callsThisMinute).toBe(before);
});
