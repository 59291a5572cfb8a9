import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { makeKey } from '../../src/plugins/issued-keys/key.ts';
import { openProgram } from '../support/program.ts';
import { CARD, trustedFile } from '../tools/documents.ts';
import { FIGURE, openFolder, openIssuing } from './issuing.ts';

const inBase64 = (text: string) => Buffer.from(text).toString('base64');

/** Spellings of a header that bears an issued key, or most of one. */
const SPELLINGS: readonly ((key: string) => string)[] = [
  (key) => `Bearer "${key}"`,
  (key) => `Bearer '${key}'`,
  (key) => `Bearer <${key}>`,
  (key) => `Bearer \\"${key}\\"`,
  (key) => `Bearer Bearer ${key}`,
  (key) => `Bearer Token=${key}`,
  (key) => `Bearer key:${key}`,
  (key) => `Bearer x${key}`,
  (key) => `Bearer ${key},`,
  (key) => `Bearer ${key} `,
  (key) => `Bearer x ${key}`,
  (key) => `Bearer ${key.toUpperCase()}`,
  (key) => `Bearer ${key.replace('_', '-')}`,
  (key) => `Bearer ${key.replace('_', '\\_')}`,
  (key) => `Bearer ${key.replace('_', '%5F')}`,
  (key) => `Bearer %22${key}%22`,
  (key) => `Bearer%20${key}`,
  (key) => `Bearer ${key.replace('c', '%63')}`,
  (key) => `Bearer ${key.replace('c', '%2563')}`,
  (key) => `Bearer ${inBase64(key)}`,
  (key) => `Basic ${inBase64(`user:${key}`)}`,
  (key) => `Token ${key}`,
  (key) => key,
  (key) => `Bearer ${key.slice(0, 12)}`,
];

const MODERN = { 'content-type': 'application/json', accept: 'application/graphql-response+json' };

/** Asks with a header by each method, and returns the statuses and codes. */
async function askedWith(url: string, authorization: string) {
  const query = encodeURIComponent(FIGURE);
  const replies = await Promise.all([
    fetch(url, {
      method: 'POST',
      headers: { ...MODERN, authorization },
      body: JSON.stringify({ query: FIGURE }),
    }),
    fetch(`${url}?query=${query}`, { headers: { ...MODERN, authorization } }),
  ]);
  return Promise.all(
    replies.map(async (reply) => {
      // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
      const { errors } = (await reply.json()) as any;
      return [reply.status, errors?.[0]?.extensions.code];
    }),
  );
}

/** A gateway that issues keys under a held one, or none, and one of its keys, or of another gateway. */
async function openEither(held: string, cacheUrl: string) {
  if (held === '') return { opened: await openProgram({ env: { CACHE_URL: cacheUrl } }), key: makeKey() };
  const opened = await openIssuing({ cacheUrl });
  return { opened, key: await opened.issue({ name: 'page' }) };
}

describe.each(['', 'demo-team'])('what looks like an issued key (COUNTRY_DATA_KEY=%s)', (held) => {
  it.each(SPELLINGS.map((spell) => [spell(makeKey()), spell] as const))(
    'what looks like an issued key never leaves: %s',
    async (_, spell) => {
      using folder = openFolder();
      const { opened, key } = await openEither(held, folder.cacheUrl);
      await using program = opened;
      const told = await askedWith(program.url, spell(key));
      // A blank after a key is none of the header's.
      const isPlain = spell(key).trim() === `Bearer ${key}`;
      const expected = isPlain && held !== '' ? [200, undefined] : [401, 'UNAUTHENTICATED'];
      expect(told).toEqual([expected, expected]);
      expect(program.sandbox.log.map(({ key }) => key).filter((one) => one !== 'team')).toEqual([]);
    },
  );
});

it('what looks like an issued key never leaves by a tool with a budget', async () => {
  const file = trustedFile([CARD]);
  using folder = openFolder();
  const env = { CACHE_URL: folder.cacheUrl, MCP: 'on', MCP_BUDGET: '9', TRUSTED_DOCUMENTS: file.path };
  await using program = await openProgram({ env });
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer "${makeKey()}"` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', program.url), { requestInit }));
  const answer = await client.callTool({ name: 'Card', arguments: { code: 'KE' } });
  expect(JSON.stringify(answer)).toContain('UNAUTHENTICATED');
  await client.close();
  file.remove();
  expect(program.requests()).toEqual([]);
});

describe('an origin with a star', () => {
  const PREVIEWS = 'https://*.app.example';

  it('an origin with a star stands for the hosts one label below, in the terms of a key and in CORS_ORIGINS', async () => {
    using folder = openFolder();
    await using program = await openIssuing({
      ...folder,
      env: { CORS_ORIGINS: `${PREVIEWS}, http://*.localhost:3000` },
    });
    const key = await program.issue({ name: 'page', origins: [PREVIEWS, 'HTTP://*.LOCALHOST:3000/'] });
    expect((await program.desk.show('page')).keys[0]?.origins).toEqual([PREVIEWS, 'http://*.localhost:3000']);
    const allowed = ['https://pr-1.app.example', 'https://a_b.app.example', 'http://x.localhost:3000'];
    const others = [
      'https://app.example',
      'https://a.b.app.example',
      'https://.app.example',
      'https://prapp.example',
      'https://pr.appxexample',
      'http://pr.app.example',
      'https://pr.app.example:444',
      'https://pr.app.example.evil',
      'https://evil.example/.app.example',
      'https://*.app.example',
      'http://x.localhost',
      'null',
    ];
    for (const origin of [...allowed, ...others]) {
      const isAllowed = allowed.includes(origin);
      const preflight = await fetch(program.url, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization',
        },
      });
      const told = preflight.headers.get('access-control-allow-origin');
      // The text of the list is allowed by its letter alone, and no page has it.
      const reply = await program.ask('{ quota { state } }', { key, headers: { origin } });
      expect([origin, told, reply.status]).toEqual([
        origin,
        isAllowed ? origin : null,
        isAllowed ? 200 : 403,
      ]);
    }
    expect(program.requests()).toEqual([]);
  });

  it.each([
    'https://*',
    'https://*.example',
    'https://*.1.2.3.4',
    'https://a.*.app.example',
    'https://pr-*.app.example',
    'https://*.*.app.example',
    'https://app.*',
    'https://*app.example',
    '*.app.example',
    'https://user@app.example',
    'app.example',
    'null',
    'ftp://app.example',
  ])('an origin with a star that is %s is refused, and so are others that name no site', async (origin) => {
    using folder = openFolder();
    await using program = await openIssuing(folder);
    await expect(program.desk.create({ name: 'page', origins: [origin] })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('must be an origin'),
    });
    expect(() => readConfig({ CORS_ORIGINS: origin })).toThrow(/CORS_ORIGINS/);
  });
});
