import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KeyDesk } from '../../src/plugins/issued-keys/key-desk.ts';
import { openKeyStore } from '../support/key-store.ts';
import { openProgram, type Program } from '../support/program.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { trustedFile } from './documents.ts';

async function connected({ url }: Program, key: string) {
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url.replace('/graphql', '/mcp')), { requestInit }),
  );
  return {
    async call(code: string) {
      const asked = { name: 'Governments', arguments: { codes: [code] } };
      const { structuredContent, _meta } = await client.callTool(asked);
      // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
      return { ...(structuredContent as any), budget: _meta?.['country-graph/budget'] as any };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

describe.skipIf(!hasRedis)('two gateways of one Redis', () => {
  const file = trustedFile();
  let redis: Awaited<ReturnType<typeof startRedis>>;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => {
    file.remove();
    await redis.kill();
  });

  async function openTwo(env: Readonly<Record<string, string>> = {}) {
    const settings = { MCP: 'on', TRUSTED_DOCUMENTS: file.path, CACHE_URL: redis.url, ...env };
    const one = await openProgram({ env: settings });
    const other = await openProgram({ env: settings, upstreamUrl: one.service.url });
    return {
      one,
      other,
      async [Symbol.asyncDispose]() {
        await other[Symbol.asyncDispose]();
        await one[Symbol.asyncDispose]();
      },
    };
  }

  it('two gateways of one Redis have one budget of tools for a key, and send not one call too many', async () => {
    await using gateways = await openTwo({ MCP_BUDGET: '4' });
    const { one, other } = gateways;
    const key = one.sandbox.keys.team;
    await using here = await connected(one, key);
    await using there = await connected(other, key);
    expect((await here.call('KE')).budget).toMatchObject({ limit: 4, spent: 1 });
    expect((await there.call('NG')).budget).toMatchObject({ limit: 4, spent: 2 });
    const codes = ['GH', 'ZA', 'EG', 'TZ', 'UG', 'RW'];
    const replies = await Promise.all(codes.map((code, i) => [here, there][i % 2]?.call(code)));
    const sent = replies.reduce((sum, reply) => sum + reply.upstream.calls, 0);
    expect(sent).toBe(2);
    expect(one.requests()).toHaveLength(4);
    const last = await here.call('SN');
    expect(last).toMatchObject({ errors: [{ code: 'OPERATION_TOO_EXPENSIVE' }], budget: { spent: 4 } });
    await using stranger = await connected(other, one.sandbox.keys.analyst);
    expect((await stranger.call('ML')).budget).toMatchObject({ spent: 1 });
    expect(one.requests()).toHaveLength(1);
  });

  it('two gateways of one Redis take each call of an issued key out of its budget and out of that of tools', async () => {
    await using gateways = await openTwo({ MCP_BUDGET: '50', COUNTRY_DATA_KEY: 'demo-team' });
    const { one } = gateways;
    const store = await openKeyStore(redis.url, 1_000);
    const desk = new KeyDesk(store, Date.now);
    const { key } = await desk.create({ name: 'tools', perDay: 3 });
    await using asking = await connected(one, key);
    const codes = ['CI', 'CM', 'BJ', 'TG', 'BF', 'NE'];
    const replies = await Promise.all(codes.map((code) => asking.call(code)));
    const sent = replies.reduce((sum, reply) => sum + reply.upstream.calls, 0);
    expect(sent).toBe(3);
    expect(one.requests()).toHaveLength(3);
    expect(JSON.stringify(replies)).toContain('KEY_BUDGET_SPENT');
    const { usage } = await desk.show('tools');
    expect(usage.find(({ window }) => window === 'day')?.calls).toBe(3);
    await expect.poll(async () => (await asking.call('CI')).budget.spent).toBe(3);
    await store.close();
  });
});
