import { once } from 'node:events';
import { mkdtempDisposable, readdir, stat, utimes } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { childrenOf, isRunning } from '../support/descendants.ts';
import { startSandbox } from '../support/sandbox-service.ts';
import { servingStarter } from '../support/serving.ts';

const start = servingStarter({ env: { WORKERS: '2', GRAPHIQL: 'off' }, isLogKept: true });

const FIGURES =
  '{ countries { code } observations(countryCodes: ["KE", "NG"], metricKeys: ["population_total"], latest: true) { value } }';

/** Asks over a connection of its own, so that workers take turns. */
async function ask(url: string, query = FIGURES, headers: Record<string, string> = { connection: 'close' }) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer demo-team', ...headers },
    body: JSON.stringify({ query }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  const { data, errors = [], extensions } = (await response.json()) as any;
  return { status: response.status, data, errors, upstream: extensions?.upstream };
}

/** The lines of the log that tell of operations. */
const operationsIn = (log: string) =>
  log
    .split('\n')
    .filter((line) => line.includes('"msg":"operation"'))
    .map((line) => JSON.parse(line) as { readonly worker: number; readonly calls: number });

/** A service that leaves its answers to the test. */
async function heldService() {
  const { promise: asked, resolve } = Promise.withResolvers<ServerResponse>();
  const service = createServer((_request, response) => resolve(response)).listen(0, '127.0.0.1');
  await once(service, 'listening');
  const { port } = service.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    answer: async () => {
      (await asked).setHeader('content-type', 'application/json').end('{"status":"ok"}');
    },
    async [Symbol.asyncDispose]() {
      service.closeAllConnections();
      service.close();
    },
  };
}

describe('two workers', () => {
  it('two workers share a port, a store and a ledger', async () => {
    await using service = await startSandbox();
    const { url, errors, child } = await start({ COUNTRY_DATA_URL: service.url });
    const first = await ask(url);
    expect(first).toMatchObject({ status: 200, errors: [], upstream: { calls: 2 } });
    for (let i = 0; i < 3; i += 1)
      expect(await ask(url)).toMatchObject({
        data: first.data,
        errors: [],
        upstream: { calls: 0, cached: 3 },
      });
    for (let i = 0; i < 2; i += 1) {
      const { data } = await ask(url, '{ quota { callsThisMonth } }');
      expect(data.quota.callsThisMonth).toBe(2);
    }
    expect(service.log).toHaveLength(2);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    const byWorker = Map.groupBy(operationsIn(errors()), ({ worker }) => worker);
    expect([...byWorker.values()].map((operations) => operations.length)).toEqual([3, 3]);
  });

  it('two workers print one line with the address, and answer health and metrics as one', async () => {
    const { url, child } = await start();
    const at = (path: string) => fetch(new URL(path, url), { headers: { connection: 'close' } });
    for (let i = 0; i < 5; i += 1) await ask(url);
    for (let i = 0; i < 3; i += 1) {
      expect((await at('/health/ready')).status).toBe(200);
      const text = await (await at('/metrics')).text();
      expect(text).toContain('country_graph_operations_total{type="query",outcome="ok"} 5\n');
      expect(text).toContain('country_graph_upstream_attempts_total{route="/v1/data",outcome="ok"} 1\n');
      expect(text).toContain('country_graph_workers 2\n');
    }
    // Counts of a worker still count after its end.
    process.kill(childrenOf(child.pid)[0] ?? 0, 'SIGKILL');
    await expect
      .poll(async () => (await at('/metrics')).text(), { timeout: 10_000 })
      .toContain('country_graph_workers_replaced_total 1\n');
    const text = await (await at('/metrics')).text();
    expect(text).toContain('country_graph_operations_total{type="query",outcome="ok"} 5\n');
    expect(text.match(/^# TYPE country_graph_operations_total/gm)).toHaveLength(1);
  });

  it('two workers have one port for health and metrics, which answer there alone', async () => {
    const { url, printed } = await start({ ADMIN_PORT: '0' });
    const [, admin = ''] = /^Health and metrics are at (http:\S+)$/m.exec(printed()) ?? [];
    for (let i = 0; i < 4; i += 1) {
      const ready = await fetch(`${admin}/health/ready`, { headers: { connection: 'close' } });
      expect([ready.status, await ready.json()]).toEqual([200, { status: 'ok' }]);
    }
    await ask(url);
    const told = await (await fetch(`${admin}/metrics`)).text();
    expect(told).toContain('country_graph_operations_total{type="query",outcome="ok"} 1');
    for (const path of ['health/ready', 'metrics'])
      expect((await fetch(url.replace('graphql', path))).status).toBe(404);
  });

  it('two workers serve nothing that is held any more once one of them was told that the key is refused', async () => {
    await using service = await startSandbox();
    const { url } = await start({ COUNTRY_DATA_URL: service.url });
    for (let i = 0; i < 4; i += 1) expect((await ask(url)).errors).toEqual([]);
    service.faults.set({ kind: 'status', status: 401 });
    const other =
      '{ observations(countryCodes: ["GH"], metricKeys: ["population_total"], latest: true) { value } }';
    expect((await ask(url, other)).errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
    for (let i = 0; i < 4; i += 1) {
      const { data, errors } = await ask(url);
      expect([data.observations, errors.length > 0]).toEqual([null, true]);
    }
  });

  it('two workers are as they were when one was killed, and another one took its place', async () => {
    const { url, child, errors } = await start();
    await ask(url);
    const before = childrenOf(child.pid);
    expect(before).toHaveLength(2);
    process.kill(before[0] ?? 0, 'SIGKILL');
    await expect
      .poll(() => childrenOf(child.pid).filter((pid) => !before.includes(pid)), { timeout: 10_000 })
      .toHaveLength(1);
    await expect.poll(errors).toContain('another one takes its place');
    for (let i = 0; i < 6; i += 1)
      expect(await ask(url)).toMatchObject({ errors: [], upstream: { calls: 0 } });
  });

  it('two workers are replaced on SIGHUP without a lost operation, over kept and over new connections', {
    timeout: 120_000,
  }, async () => {
    await using service = await startSandbox();
    const { url, child, errors } = await start({
      COUNTRY_DATA_URL: service.url,
      DRAIN_TIMEOUT_MS: '3000',
      // Waits long, for a new worker takes its time on a busy machine.
      CACHE_TIMEOUT_MS: '5000',
    });
    await ask(url);
    const before = childrenOf(child.pid);
    const outcomes: Record<string, number> = {};
    let isOver = false;
    const clients = Array.from({ length: 8 }, async (_, n) => {
      while (!isOver) {
        const outcome = await ask(url, FIGURES, n % 2 === 0 ? {} : { connection: 'close' }).then(
          (reply) => (reply.data?.observations?.length === 2 ? 'answered' : `answered with ${reply.status}`),
          (error: Error) => `lost: ${error.cause ?? error}`,
        );
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        await pause(5);
      }
    });
    await expect.poll(() => outcomes.answered ?? 0, { timeout: 10_000 }).toBeGreaterThan(50);
    child.kill('SIGHUP');
    await expect.poll(errors, { timeout: 90_000 }).toContain('All workers are replaced');
    isOver = true;
    await Promise.all(clients);
    expect(childrenOf(child.pid).filter((pid) => before.includes(pid))).toEqual([]);
    expect(outcomes).toEqual({ answered: expect.any(Number) });
    expect(service.log.map(({ route }) => route)).toEqual(['/v1/countries', '/v1/data']);
  });
});

describe('the end of several workers', () => {
  it.for(['SIGTERM', 'SIGINT'] as const)(
    'the end of several workers lets what is in flight finish on %s, exit code 0',
    async (signal) => {
      await using service = await heldService();
      const { url, child, errors } = await start({ COUNTRY_DATA_URL: service.url });
      const inFlight = ask(url, '{ health { status } }');
      await service.asked;
      // The whole group gets it, as from a terminal.
      for (const pid of [...childrenOf(child.pid), child.pid ?? 0]) process.kill(pid, signal);
      await expect.poll(errors).toContain('draining');
      await expect
        .poll(() =>
          fetch(url).then(
            () => 'answered',
            () => 'refused',
          ),
        )
        .toBe('refused');
      await service.answer();
      expect(await inFlight).toMatchObject({ data: { health: { status: 'ok' } } });
      expect(await once(child, 'exit')).toEqual([0, null]);
    },
  );

  it('the end of several workers says 503 for readiness while it still takes requests, and comes at once on a second signal', async () => {
    const { url, child, errors } = await start({ DRAIN_DELAY_MS: '3600000' });
    const workers = childrenOf(child.pid);
    child.kill('SIGTERM');
    await expect.poll(errors).toContain('draining');
    const ready = async () =>
      (await fetch(new URL('/health/ready', url), { headers: { connection: 'close' } })).status;
    await expect.poll(ready).toBe(503);
    expect([await ready(), await ready()]).toEqual([503, 503]);
    expect((await ask(url)).errors).toEqual([]);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([1, null]);
    await expect.poll(() => workers.filter(isRunning), { timeout: 10_000 }).toEqual([]);
  });

  it('the end of several workers cuts what takes longer than a drain may, says so, and exits with 1', async () => {
    await using service = await heldService();
    const { url, child, errors } = await start({ COUNTRY_DATA_URL: service.url, DRAIN_TIMEOUT_MS: '50' });
    const inFlight = ask(url, '{ health { status } }').catch(() => 'cut');
    await service.asked;
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(await inFlight).toBe('cut');
    expect(errors()).toContain('1 request(s) took longer than DRAIN_TIMEOUT_MS');
  });

  it('the end of several workers lets what is in flight finish where the supervising process is killed', async () => {
    await using service = await heldService();
    const { url, child } = await start({ COUNTRY_DATA_URL: service.url });
    const workers = childrenOf(child.pid);
    const inFlight = ask(url, '{ health { status } }');
    await service.asked;
    child.kill('SIGKILL');
    await once(child, 'exit');
    await service.answer();
    expect(await inFlight).toMatchObject({ data: { health: { status: 'ok' } } });
    await expect.poll(() => workers.filter(isRunning), { timeout: 10_000 }).toEqual([]);
  });
});

describe('the file that workers share', () => {
  it.for(['memory:', 'none'])(
    'the file that workers share goes with the run, and with the next one where the run was killed: %s',
    async (cacheUrl) => {
      await using folder = await mkdtempDisposable(join(tmpdir(), 'run-folders-'));
      const env = { TMPDIR: folder.path, CACHE_URL: cacheUrl };
      const runs = async () =>
        (await readdir(folder.path)).filter((name) => name.startsWith('country-graph-run-'));
      const killed = await start(env);
      const workers = childrenOf(killed.child.pid);
      await ask(killed.url);
      const [first = ''] = await runs();
      expect((await stat(join(folder.path, first))).mode & 0o777).toBe(0o700);
      const long = new Date(Date.now() - 3_600_000);
      const age = () => utimes(join(folder.path, first), long, long);
      // The next run leaves what another has open.
      await age();
      const ended = await start(env);
      expect(await runs()).toHaveLength(2);
      ended.child.kill('SIGTERM');
      await once(ended.child, 'exit');
      expect(await runs()).toEqual([first]);
      killed.child.kill('SIGKILL');
      await once(killed.child, 'exit');
      await expect.poll(() => workers.filter(isRunning), { timeout: 10_000 }).toEqual([]);
      expect(await runs()).toEqual([first]);
      await age();
      await start(env);
      expect(await runs()).not.toContain(first);
    },
  );

  it('the file that workers share lies in a folder that can be written, or the program says what to set', async () => {
    await expect(start({ TMPDIR: '/dev/null/below' })).rejects.toThrow(
      /The settings have 1 error\(s\):\n {2}CACHE_URL: with WORKERS above 1 .* in \/dev\/null\/below.*: name another folder in TMPDIR, or a store/,
    );
  });
});

describe('workers that can not start', () => {
  it('workers that can not start end the program, which says once that the port is taken', async () => {
    await using service = await heldService();
    const started = start({ PORT: new URL(service.url).port });
    await expect(started).rejects.toThrow(
      /^The program exited before it listened: (?!.*listens on port.*listens on port).*listens on port \d+ already/,
    );
  });

  it('workers that can not start end the program with their own words where a setting is wrong', async () => {
    const started = start({ CACHE_URL: 'sqlite:/nowhere/at/all.sqlite' });
    await expect(started).rejects.toThrow(/The settings have 1 error\(s\):\n {2}CACHE_URL: /);
  });
});
