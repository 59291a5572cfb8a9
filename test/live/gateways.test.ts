import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { SOURCES, startServing } from '../support/serving.ts';
import { begin, CHANGED, connect, LOOK, open, openLive, POPULATION, valuesOf } from './live.ts';

describe.skipIf(!hasRedis)('two gateways over one Redis', () => {
  it('two gateways over one Redis look at the sources once, and ask for what has changed once', async () => {
    await using redis = await startRedis();
    // Waits long for the store, on a busy machine too: its late values count as not held.
    const env = { CACHE_URL: redis.url, CACHE_TIMEOUT_MS: '5000' };
    await using one = await openLive({ env });
    await using other = await openLive({ env, upstreamUrl: one.service.url });
    const [told] = await begin(one, () =>
      open(one, 'ws').subscribe({ query: CHANGED, variables: POPULATION }),
    );
    const [toldToo] = await begin(other, () =>
      open(other, 'sse').subscribe({ query: CHANGED, variables: POPULATION }),
    );
    // The other one takes all of it from the store.
    expect(one.requests()).toHaveLength(3);
    for (const factor of [2, 3, 4, 5]) {
      one.revise('world_bank_wdi', 'population_total', factor);
      await Promise.all([one.round(), other.round()]);
      await expect
        .poll(() => [told, toldToo].map((each) => each?.results.length))
        .toEqual([factor - 1, factor - 1]);
      expect(one.requests()).toEqual([LOOK, expect.stringContaining('/v1/data')]);
    }
    expect(told && toldToo && valuesOf(told)).toEqual(toldToo && valuesOf(toldToo));
    expect(other.requests()).toEqual([]);
  });
});

/** Writes the names of the libraries that a program loads to standard error. */
const LOADS = `data:text/javascript,${encodeURIComponent(
  `import { registerHooks } from 'node:module';
  registerHooks({ load(url, context, next) {
    if (/graphql-(ws|sse)|node_modules\\/ws\\/|src\\/(graphql\\/live\\/|plugins\\/subscriptions\\/live)/.test(url)) process.stderr.write('LOADED ' + url + '\\n');
    return next(url, context);
  } });`,
)}`;

describe('with SUBSCRIPTIONS', () => {
  it.each(['off', 'on'])(
    'with SUBSCRIPTIONS %s, libraries of theirs are loaded where they are on',
    async (SUBSCRIPTIONS) => {
      const sandbox = createSandbox();
      const { url } = await sandbox.listen();
      const { child, errors } = await startServing({
        env: { SUBSCRIPTIONS, COUNTRY_DATA_URL: url, LOG_LEVEL: 'silent' },
        bin: SOURCES,
        nodeArgs: ['--import', LOADS],
        isLogKept: true,
      });
      child.kill('SIGTERM');
      const [code] = await once(child, 'exit');
      await sandbox.close();
      expect(code).toBe(0);
      for (const library of [
        'graphql-ws',
        'graphql-sse',
        'node_modules/ws/',
        'src/graphql/live/subscriptions',
        'src/plugins/subscriptions/live',
      ])
        expect(errors().includes(library)).toBe(SUBSCRIPTIONS === 'on');
    },
  );

  it('with SUBSCRIPTIONS off, a subscription is refused by all ways', async () => {
    await using program = await openLive({ env: { SUBSCRIPTIONS: 'off' } });
    const posted = await program.ask(CHANGED, { variables: POPULATION });
    expect(posted.errors).toMatchObject([
      {
        message: expect.stringContaining('SUBSCRIPTIONS=off'),
        extensions: { code: 'BAD_REQUEST', retryable: false },
      },
    ]);
    const stream = await fetch(`${program.url}/stream`, { headers: { accept: 'text/event-stream' } });
    expect(stream.status).toBe(404);
    const client = connect(program.url, 'ws');
    const told = client.subscribe({ query: CHANGED, variables: POPULATION });
    await expect.poll(() => told.isOver).toBe(true);
    client.dispose();
    expect(program.requests()).toEqual([]);
  });

  it.each(['text/event-stream', 'multipart/mixed, text/event-stream;q=0.9, application/json'])(
    'with SUBSCRIPTIONS on, a subscription is answered where everything else is, to %s',
    async (accept) => {
      await using program = await openLive();
      const left = new AbortController();
      const headers = {
        accept,
        authorization: 'Bearer demo-team',
        'content-type': 'application/json',
        'apollo-require-preflight': 'yes',
      };
      const variables = { ...POPULATION, since: '0' };
      const search = new URLSearchParams({ query: CHANGED, variables: JSON.stringify(variables) });
      for (const [address, asking] of [
        [program.url, { method: 'POST', body: JSON.stringify({ query: CHANGED, variables }) }],
        [`${program.url}?${search}`, {}],
      ] as const) {
        const response = await fetch(address, { headers, signal: left.signal, ...asking });
        expect(response.headers.get('content-type')).toContain('text/event-stream');
        const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
        let text = '';
        while (!text.includes('"isWhole":true')) text += (await reader?.read())?.value ?? '';
        expect(text).toContain('event: next');
      }
      left.abort();
      expect(program.requests()).toHaveLength(3);
      // Anything else is answered as ever.
      const query = JSON.stringify({ query: '{ country(code: "KE") { name } } # subscription' });
      const response = await fetch(program.url, { method: 'POST', headers, body: query });
      expect(response.headers.get('content-type')).not.toContain('text/event-stream');
    },
  );

  it('with SUBSCRIPTIONS on, a subscription that is posted is told where to go', async () => {
    await using program = await openLive();
    const posted = await program.ask(CHANGED, { variables: POPULATION });
    expect(posted).toMatchObject({
      status: 400,
      errors: [
        { message: expect.stringMatching(/graphql\/stream.*WebSocket/), extensions: { code: 'BAD_REQUEST' } },
      ],
      upstream: { calls: 0 },
    });
    expect(program.requests()).toEqual([]);
  });
});
