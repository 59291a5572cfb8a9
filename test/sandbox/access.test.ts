import { describe, expect, it } from 'vitest';
import { NOW, start } from './start.ts';

const HOUR = 3_600_000;

describe('access', () => {
  it('the sandbox refuses a missing and an unknown key with 401, and counts neither', async () => {
    const { send, sandbox } = await start();
    for (const key of [null, 'nobody']) {
      const response = await send('/v1/countries', { key });
      expect([response.status, await response.json()]).toEqual([401, { detail: 'Not authenticated' }]);
    }
    expect(
      (await send('/v1/countries', { key: null, headers: { authorization: sandbox.keys.team } })).status,
    ).toBe(401);
    expect(sandbox.usage('team').month).toBe(0);
  });

  it('the sandbox refuses a key that is permitted nothing with 403, on protected routes only', async () => {
    const { send, sandbox } = await start();
    const key = sandbox.keys.forbidden;
    const response = await send('/v1/indicators', { key });
    expect([response.status, typeof (await response.json()).detail]).toEqual([403, 'string']);
    expect((await send('/health', { key })).status).toBe(200);
  });

  it('the sandbox lets five requests a minute through on the free plan, and says so to the sixth', async () => {
    let now = NOW;
    const { send, sandbox } = await start({ now: () => now });
    const status = async () => (await send('/v1/indicators', { key: sandbox.keys.free })).status;
    for (let i = 0; i < 5; i++) expect(await status()).toBe(200);
    const sixth = await send('/v1/indicators', { key: sandbox.keys.free });
    expect([sixth.status, await sixth.json()]).toEqual([
      429,
      { detail: "rate limit exceeded for plan 'free': 5 requests per minute" },
    ]);
    for (const name of sixth.headers.keys()) expect(name).not.toMatch(/^x-ratelimit|^retry-after/);
    // Bills no refused request, and public routes go on.
    expect(sandbox.usage('free')).toEqual({ minute: 5, month: 5 });
    expect((await send('/health', { key: sandbox.keys.free })).status).toBe(200);

    // The window is the minute of the clock: 20 seconds into it, 39 more are not enough.
    now += 39_999;
    expect(await status()).toBe(429);
    now += 1;
    expect(await status()).toBe(200);
  });

  it('the sandbox refuses the rest of a spent month, and only the month', async () => {
    let now = NOW;
    const { send, sandbox } = await start({ now: () => now });
    const key = sandbox.keys.spent;
    const response = await send('/v1/indicators', { key });
    const { detail } = await response.json();
    expect(response.status).toBe(429);
    expect(detail).toContain('monthly request limit');
    expect(detail).toContain("plan 'free'");
    expect(detail).toContain('1000');
    expect(detail).toContain('upgrade');
    now = Date.UTC(2026, 6, 31, 23, 59, 59, 999);
    expect((await send('/v1/indicators', { key })).status).toBe(429);
    now = Date.UTC(2026, 7, 1);
    expect((await send('/v1/indicators', { key })).status).toBe(200);
    expect(sandbox.usage('spent')).toEqual({ minute: 1, month: 1 });
  });

  it('the sandbox shares the limits of an account between its keys', async () => {
    const { send, sandbox } = await start({
      plans: { analyst: { requestsPerMinute: 2, monthlyRequests: 10 } },
    });
    expect((await send('/v1/indicators', { key: sandbox.keys.analyst })).status).toBe(200);
    expect((await send('/v1/indicators', { key: sandbox.keys.analystSecond })).status).toBe(200);
    expect((await send('/v1/indicators', { key: sandbox.keys.analyst })).status).toBe(429);
    sandbox.resetCounters();
    expect((await send('/v1/indicators', { key: sandbox.keys.analyst })).status).toBe(200);
  });

  it('the sandbox counts a month over its minutes, and bills calls that end in a 404 or 422', async () => {
    let now = NOW;
    const { send, sandbox } = await start({
      now: () => now,
      plans: { free: { requestsPerMinute: 5, monthlyRequests: 3 } },
    });
    const key = sandbox.keys.free;
    expect((await send('/v1/countries/xx/profile', { key })).status).toBe(404);
    expect((await send('/v1/data?latest=perhaps', { key })).status).toBe(422);
    now += HOUR;
    expect((await send('/v1/indicators', { key })).status).toBe(200);
    now += HOUR;
    const { detail } = await (await send('/v1/indicators', { key })).json();
    expect(detail).toContain('monthly request limit');
  });
});
