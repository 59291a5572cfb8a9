import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { start } from './start.ts';

describe('faults', () => {
  it('the fault latency: the answer comes later', async () => {
    const { send, sandbox } = await start();
    sandbox.faults.set({ kind: 'latency', ms: 40, times: 1 });
    const before = performance.now();
    expect((await send('/v1/indicators')).status).toBe(200);
    expect(performance.now() - before).toBeGreaterThan(30);
  });

  it('the fault paused: the answer comes once its promise is fulfilled', async () => {
    const { send, sandbox } = await start();
    const { promise, resolve } = Promise.withResolvers<void>();
    sandbox.faults.set({ kind: 'paused', until: promise, route: '/v1/indicators' });
    const asked = send('/v1/indicators');
    expect((await send('/v1/countries')).status).toBe(200);
    await expect.poll(() => sandbox.log.length).toBe(2);
    expect(sandbox.log.find(({ route }) => route === '/v1/indicators')?.status).toBeNull();
    resolve();
    expect((await asked).status).toBe(200);
  });

  it('the fault status: another status, on the one route, as often as told', async () => {
    const { send, sandbox } = await start();
    sandbox.faults.set({ kind: 'status', status: 503, route: '/v1/data', times: 2 });
    expect((await send('/v1/indicators')).status).toBe(200);
    const first = await send('/v1/data?country_code=ke');
    expect([first.status, await first.json()]).toEqual([503, { detail: 'fault: status 503' }]);
    expect((await send('/v1/data?country_code=ke')).status).toBe(503);
    expect((await send('/v1/data?country_code=ke')).status).toBe(200);
    // Failed attempts are billed.
    expect(sandbox.usage('team').month).toBe(4);
  });

  it('the fault status: with a body of its own, JSON or not', async () => {
    const { send, sandbox } = await start();
    sandbox.faults.set({ kind: 'status', status: 500, body: 'Internal Server Error', times: 1 });
    sandbox.faults.set({ kind: 'status', status: 418, body: { teapot: true }, times: 1 });
    const plain = await send('/v1/indicators');
    expect([plain.headers.get('content-type'), await plain.text()]).toEqual([
      'text/plain',
      'Internal Server Error',
    ]);
    expect(await (await send('/v1/indicators')).json()).toEqual({ teapot: true });
  });

  it('the fault reset: the socket is destroyed before a reply', async () => {
    const { send, sandbox } = await start();
    sandbox.faults.set({ kind: 'reset', times: 1 });
    await expect(send('/v1/indicators')).rejects.toThrow();
    expect(sandbox.log[0]).toMatchObject({ status: null, aborted: false });
    expect((await send('/v1/indicators')).status).toBe(200);
  });

  it('the fault hang: no reply, until the client leaves', async () => {
    const { send, sandbox } = await start();
    sandbox.faults.set({ kind: 'hang' });
    const leave = new AbortController();
    const asked = send('/v1/indicators', { signal: leave.signal });
    const failed = expect(asked).rejects.toThrow();
    await expect.poll(() => sandbox.log.length).toBe(1);
    leave.abort();
    await failed;
    await expect.poll(() => sandbox.log[0]?.aborted).toBe(true);
  });

  it('the fault hang: closing the sandbox ends it at once', async () => {
    const sandbox = createSandbox();
    const { url } = await sandbox.listen();
    sandbox.faults.set({ kind: 'hang', route: '/health' });
    const failed = expect(fetch(`${url}/health`)).rejects.toThrow();
    await expect.poll(() => sandbox.log.length).toBe(1);
    await sandbox.close();
    await failed;
    await sandbox.close();
  });

  it('the fault drip: headers at once, the body in chunks', async () => {
    const { send, sandbox } = await start();
    sandbox.faults.set({ kind: 'drip', ms: 15, bytes: 30 });
    const response = await send('/v1/platform/version');
    expect(response.status).toBe(200);
    let chunks = 0;
    let text = '';
    for await (const chunk of response.body ?? []) {
      chunks++;
      text += Buffer.from(chunk).toString();
    }
    expect(chunks).toBeGreaterThan(1);
    expect(JSON.parse(text)).toHaveProperty('data.version');
  });

  it('the fault garbage: 200, and no JSON', async () => {
    const { send, sandbox } = await start();
    sandbox.faults.set({ kind: 'garbage', times: 1 });
    const response = await send('/v1/indicators');
    expect(response.status).toBe(200);
    await expect(response.json()).rejects.toThrow(SyntaxError);
  });

  it('the fault shape: the body rewritten, and never the catalogue behind it', async () => {
    const { json, send, sandbox } = await start();
    const whole = await json('/v1/countries');
    const etag = (await send('/v1/countries')).headers.get('etag') ?? '';
    sandbox.faults.set({
      kind: 'shape',
      times: 1,
      patch: (body) => {
        body.data[0].name = null;
        return body;
      },
    });
    const patched = await send('/v1/countries', { headers: { 'if-none-match': etag } });
    expect((await patched.json()).data[0].name).toBeNull();
    expect(await json('/v1/countries')).toEqual(whole);
  });

  it('the fault cut: less than promised', async () => {
    const { send, sandbox } = await start();
    sandbox.faults.set({ kind: 'cut', times: 1 });
    await expect(send('/v1/indicators').then((response) => response.text())).rejects.toThrow();
  });

  it('a fault meets only the requests it is meant for', async () => {
    const { send, sandbox } = await start();
    sandbox.faults.set({ kind: 'status', status: 500, when: (query) => query.country_code === 'ke' });
    expect((await send('/v1/data?country_code=ke')).status).toBe(500);
    expect((await send('/v1/data?country_code=ng')).status).toBe(200);
  });

  it('faults follow one another in the order set, and go when told', async () => {
    const { send, sandbox } = await start();
    const status = async () => (await send('/v1/indicators')).status;
    sandbox.faults.set({ kind: 'latency', ms: 1 });
    sandbox.faults.set({ kind: 'status', status: 500, times: 1 });
    const withdraw = sandbox.faults.set({ kind: 'status', status: 502 });
    expect([await status(), await status(), await status()]).toEqual([500, 502, 502]);
    withdraw();
    expect(await status()).toBe(200);
    sandbox.faults.set({ kind: 'status', status: 504 });
    sandbox.faults.clear();
    expect(await status()).toBe(200);
  });
});
