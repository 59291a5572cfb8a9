import { describe, expect, it } from 'vitest';
import { open } from '../operations/exchange.ts';

const NO_KEY_FIGURE = '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }';
const idsIn = (text: string) =>
  JSON.parse(text).errors.map(
    ({ extensions }: { extensions: { requestId: string } }) => extensions.requestId,
  );

/** A request without a key, so that its answer holds an error. */
const named = (id: string) => ({
  key: null,
  body: { query: NO_KEY_FIGURE },
  headers: { 'x-request-id': id },
});

describe('X-Request-Id', () => {
  it.for(['0af7651916cd43dd8448eb211c80319c', 'web-1/2026.03:7=a+b@c', 'a'.repeat(128)])(
    'X-Request-Id is taken: %s',
    async (id) => {
      await using program = await open();
      const reply = await program.send(named(id));
      expect(reply.headers['x-request-id']).toBe(id);
      expect(idsIn(reply.text)).toEqual([id]);
      expect(program.operations.map(({ requestId }) => requestId)).toEqual([id]);
    },
  );

  it.for(['', 'a b', '"quoted"', 'back\\slash', '<script>', 'a'.repeat(129), 'one, other'])(
    'X-Request-Id is made instead of one that is not well-formed: %s',
    async (id) => {
      await using program = await open();
      const reply = await program.send(named(id));
      const made = reply.headers['x-request-id'];
      expect(made).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
      expect(idsIn(reply.text)).toEqual([made]);
    },
  );

  it('X-Request-Id is another one for each request, repeated answers and other addresses included', async () => {
    await using program = await open();
    const seen: unknown[] = [];
    for (let i = 0; i < 4; i += 1) {
      const { headers } = await program.send({ ...named(''), key: 'demo-team' });
      seen.push(headers['x-request-id']);
    }
    expect(program.operations.map(({ requestId }) => requestId)).toEqual(seen);
    expect(program.repeats().at(-1)).toBe(true);
    for (const path of ['/health/live', '/metrics', '/schema.graphql', '/nowhere']) {
      seen.push((await fetch(new URL(path, program.url))).headers.get('x-request-id'));
    }
    expect(new Set(seen).size).toBe(8);
    expect(seen.every(Boolean)).toBe(true);
  });

  it.for<[string, Readonly<Record<string, unknown>>, Readonly<Record<string, string>>]>([
    ['no JSON object', [] as never, {}],
    ['no GraphQL', { query: '{' }, {}],
    ['no such field', { query: '{ nothing }' }, {}],
    ['nested too deeply', { query: `{${'a{'.repeat(600)}}` }, {}],
    ['no such document', { documentId: 'x' }, {}],
    ['no key', { query: NO_KEY_FIGURE }, { authorization: '' }],
    ['a key with blanks', { query: NO_KEY_FIGURE }, { authorization: 'Bearer a b' }],
    ['a key that the service refuses', { query: NO_KEY_FIGURE }, { authorization: 'Bearer made-up' }],
  ])('X-Request-Id stands in the errors of a request with %s', async ([, body, headers]) => {
    await using program = await open();
    for (let i = 0; i < 3; i += 1) {
      const id = `request-${i}`;
      const reply = await program.send({ body, headers: { ...headers, 'x-request-id': id } });
      expect(idsIn(reply.text)).toEqual([id]);
    }
  });
});
