import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { request } from 'undici';
import { readConfig } from '../../src/config/config.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import { plugins } from '../../src/plugins.ts';
import { createLog } from '../../src/server/log.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { createServer } from '../../src/server/server.ts';

/** One request to an entry point that needs no key, or without a valid one. */
export interface DoorAttack {
  readonly name: string;
  /** The port that it is sent to. */
  readonly door: 'main' | 'admin';
  readonly method: 'GET' | 'POST' | 'QUERY';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const called = (name: string, given: object) =>
  json({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } });

/** Words of one letter, as many as fit into a body. */
const WORDS = 'a e i o n r s t '.repeat(65_000);
const NESTED = '['.repeat(500_000);
const SEARCH = 'query($w: String!) { indicators(search: $w) { key } }';

const tool = (name: string, body: Buffer): DoorAttack => ({
  name,
  door: 'main',
  method: 'POST',
  path: '/mcp',
  body,
});
const asked = (name: string, body: Buffer, headers = {}): DoorAttack => ({
  name,
  door: 'main',
  method: 'QUERY',
  path: '/graphql',
  headers: { authorization: 'Bearer made-up-key', ...headers },
  body,
});
const page = (name: string, path: string): DoorAttack => ({ name, door: 'main', method: 'GET', path });
const operator = (name: string, method: 'GET' | 'POST', path: string, body?: Buffer): DoorAttack => ({
  name,
  door: 'admin',
  method,
  path,
  ...(body === undefined ? {} : { body }),
});

export const DOOR_ATTACKS: readonly DoorAttack[] = [
  tool('tools: search for 1 MB of words', called('search', { words: WORDS, in: 'FIELDS' })),
  tool(
    'tools: search for as many words as it takes',
    called('search', { words: WORDS.slice(0, 200), in: 'FIELDS' }),
  ),
  tool('tools: a price with 1 MB of arguments', called('price', { tool: 'Card', arguments: NESTED })),
  tool('tools: 1 MB of names of arguments', called('Card', { [WORDS]: 1 })),
  tool('tools: a tool with a name of 1 MB', called(WORDS, {})),
  tool('tools: the list', json({ jsonrpc: '2.0', id: 1, method: 'tools/list' })),
  asked('QUERY: search for 1 MB of words', json({ query: SEARCH, variables: { w: WORDS } })),
  asked(
    'QUERY: search for as many words as it takes',
    json({ query: SEARCH, variables: { w: WORDS.slice(0, 4_096) } }),
  ),
  asked('QUERY: a text of 1 MB', json({ query: `{ indicators(search: "${WORDS}") { key } }` })),
  asked('QUERY: 30 MB of blanks, packed', gzipSync(Buffer.alloc(30e6, ' ')), { 'content-encoding': 'gzip' }),
  page('/c: 16 KB of a parameter', `/c/card?code=${'a'.repeat(14_000)}`),
  page('/c: 5,000 parameters', `/c/card?${'a&'.repeat(5_000)}`),
  page('/c: a name of 14 KB', `/c/${'a'.repeat(14_000)}`),
  page('/c: the whole page', '/c/card?code=KE'),
  page('/oembed: 14 KB of an address', `/oembed?url=${'%2F'.repeat(4_500)}`),
  operator('admin: terms of 1 MB', 'POST', '/keys', json({ name: WORDS })),
  operator('admin: use of a name of 14 KB', 'GET', `/usage?key=${'a'.repeat(14_000)}`),
  operator('admin: metrics', 'GET', '/metrics'),
];

const CARD = '"A name."\nquery Card($code: CountryCode!) { country(code: $code) { name } }';

/** Opens the whole program with all entry points. Returns a function that sends a request and returns its status. */
export async function openDoors(upstreamUrl: string, key: string) {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-'));
  const file = (name: string, content: unknown) => {
    writeFileSync(join(folder, name), JSON.stringify(content));
    return join(folder, name);
  };
  const config = readConfig(
    {
      PORT: '0',
      ADMIN_PORT: '0',
      OPERATOR_KEY: 'operator-key-0123456789',
      COUNTRY_DATA_KEY: key,
      MCP: 'on',
      TRUSTED_DOCUMENTS: file('trusted.json', { card: CARD, search: SEARCH }),
      PUBLIC_DOCUMENTS: file('public.json', { card: { document: 'Card', key: 'page' } }),
    },
    plugins,
  );
  const log = createLog('silent', { write() {} });
  const metrics = createMetrics();
  const gateway = await createGateway({ config, plugins, upstreamUrl, observer: log });
  const server = createServer({ config, gateway, metrics, log, demoKeys: null });
  const { url, adminUrl = '' } = await server.listen();
  await gateway.plugins
    .api<{ desk: { create(terms: object): Promise<object> } }>('issued-keys')
    ?.desk.create({ name: 'page' });
  const origins = { main: new URL(url).origin, admin: new URL(adminUrl).origin };
  return async ({ door, method, path, headers, body }: DoorAttack): Promise<string> => {
    const { statusCode, body: answer } = await request(origins[door] + path, {
      method: method as 'POST',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        accept: 'application/json',
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    await answer.text();
    return String(statusCode);
  };
}
