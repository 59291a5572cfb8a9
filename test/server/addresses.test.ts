import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { buildSchema, getIntrospectionQuery } from 'graphql';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';
import { openAddresses } from './tagged.ts';

const BYTES_OF_A_PACKET = 1_024;

describe('every address', () => {
  it('every address answers a HEAD as a GET, but for the body', async () => {
    await using program = await openAddresses();
    for (const path of program.paths) {
      const ask = (method: 'GET' | 'HEAD') =>
        fetch(program.origin + path, {
          method,
          headers: { ...program.headers, 'accept-encoding': 'identity' },
        });
      await (await ask('GET')).text();
      const [get, head] = [await ask('GET'), await ask('HEAD')];
      const told = ({ status, headers }: Response) => [
        path,
        status,
        ...['content-type', 'etag', 'vary', 'content-encoding'].map((name) => headers.get(name)),
      ];
      expect(told(head)).toEqual(told(get));
      expect(await head.text()).toBe('');
      await get.text();
    }
  });

  it('every address refuses a method that it does not take, and says which it takes', async () => {
    await using program = await openAddresses();
    for (const path of program.paths) {
      const { status, headers } = await fetch(program.origin + path, { method: 'DELETE' });
      const allowed = path.startsWith('/graphql') ? 'GET, HEAD, POST, QUERY' : 'GET, HEAD';
      expect([path, status, headers.get('allow')]).toEqual([path, 405, allowed]);
    }
    for (const method of ['GET', 'POST', 'DELETE'])
      expect((await fetch(`${program.origin}/nothing`, { method })).status).toBe(404);
    expect(program.requests()).toEqual([]);
  });

  it('every address compresses text for clients that take it', async () => {
    await using program = await openAddresses();
    const plain: string[] = [];
    for (const path of program.paths) {
      const ask = async (encoding: string) => {
        const asked = { headers: { ...program.headers, 'accept-encoding': encoding } };
        const { headers, body } = await request(program.origin + path, asked);
        return { headers, length: (await body.bytes()).length };
      };
      const { headers, length } = await ask('identity');
      if (!/text|json|xml|javascript/.test(String(headers['content-type'])) || length < BYTES_OF_A_PACKET)
        continue;
      // The files of GraphiQL are there in two encodings.
      for (const encoding of path.includes('/assets/') ? ['gzip', 'br'] : ['gzip', 'br', 'zstd'])
        if ((await ask(encoding)).headers['content-encoding'] !== encoding) plain.push(`${path} ${encoding}`);
    }
    expect(plain).toEqual([]);
  });

  it('every address refuses a request with two Host headers', async () => {
    await using program = await openAddresses();
    await using beside = await openProgram({ env: { ADMIN_PORT: '0' } });
    const asked = [
      ...program.paths.map((path) => [program.origin, path] as const),
      ...['/metrics', '/health/live'].map((path) => [beside.adminUrl ?? '', path] as const),
    ];
    for (const [origin, path] of asked) {
      const socket = connect(Number(new URL(origin).port), '127.0.0.1');
      socket.end(`GET ${path} HTTP/1.1\r\nHost: a.example\r\nhost: b.example\r\nConnection: close\r\n\r\n`);
      expect([path, (await text(socket)).split('\r\n')[0]]).toEqual([path, 'HTTP/1.1 400 Bad Request']);
    }
    expect(program.requests()).toEqual([]);
  });
});

it('the SDL for clients has every directive of operations that introspection has', async () => {
  await using program = await openProgram();
  const { data } = await program.ask(getIntrospectionQuery());
  const sdl = await (await fetch(new URL('/schema.graphql?for=clients', program.url))).text();
  const ofOperations = (locations: readonly string[]) =>
    locations.some((place) => ['FIELD', 'FRAGMENT_SPREAD', 'QUERY'].includes(place));
  const told = data.__schema.directives
    .filter(({ locations }: { locations: readonly string[] }) => ofOperations(locations))
    .map(({ name }: { name: string }) => name);
  const shown = buildSchema(sdl).getDirectives();
  expect(told).toContain('defer');
  expect(shown.map(({ name }) => name)).toEqual(expect.arrayContaining(told));
  expect(shown.find(({ name }) => name === 'defer')?.args.map(({ name }) => name)).toEqual(['if', 'label']);
});
