import { describe, expect, it } from 'vitest';
import { FIGURE, openFolder, openIssuing, START } from '../../issued/issuing.ts';

async function open(env: Readonly<Record<string, string>>) {
  const opened = new AsyncDisposableStack();
  const folder = opened.use(openFolder());
  const program = opened.use(await openIssuing({ ...folder, env }));
  /** Asks as a cache does that shares what it may: by GET. */
  async function ask(key: string | null, query = FIGURE, headers: Readonly<Record<string, string>> = {}) {
    const response = await fetch(`${program.url}?query=${encodeURIComponent(query)}`, {
      headers: {
        accept: 'application/graphql-response+json',
        'apollo-require-preflight': 'true',
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...headers,
      },
    });
    await response.text();
    const requestId = response.headers.get('x-request-id');
    const [caching, vary, etag] = ['cache-control', 'vary', 'etag'].map((name) => response.headers.get(name));
    return { status: response.status, caching, vary, etag, requestId, calls: program.requests().length };
  }
  return { program, ask, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

describe('answers for shared caches', () => {
  it('answers to an issued key are for shared caches where the operator says so, apart for each key, also as bytes and as 304', async () => {
    await using scene = await open({ PUBLIC_ANSWERS: 'on' });
    const { program, ask } = scene;
    const key = await program.issue({ name: 'page' });
    for (const calls of [1, 0, 0, 0]) {
      const answer = await ask(key);
      expect(answer).toMatchObject({ status: 200, caching: 'public, max-age=300', calls });
      expect(answer.vary?.split(', ')).toContain('Authorization');
    }
    expect(program.operations.at(-1)?.repeated).toBe(true);
    const { etag } = await ask(key);
    expect(await ask(key, FIGURE, { 'if-none-match': etag ?? '' })).toMatchObject({
      status: 304,
      caching: 'public, max-age=300',
      calls: 0,
    });
    program.pass(100);
    expect(await ask(key)).toMatchObject({ caching: 'public, max-age=200', calls: 0 });
  });

  it('answers for shared caches name no request, since a cache repeats them to others', async () => {
    await using scene = await open({ PUBLIC_ANSWERS: 'on' });
    const key = await scene.program.issue({ name: 'page' });
    const named = { 'x-request-id': 'first' };
    for (const calls of [1, 0, 0])
      expect(await scene.ask(key, FIGURE, named)).toMatchObject({
        caching: 'public, max-age=300',
        requestId: null,
        calls,
      });
    const { team } = scene.program.sandbox.keys;
    expect(await scene.ask(team, FIGURE, named)).toMatchObject({ requestId: 'first', calls: 0 });
    expect(await scene.ask(key, '{', named)).toMatchObject({ caching: 'no-store', requestId: 'first' });
  });

  it('answers to a key of the service stay private, were it the one that issued keys stand for, and errors are kept by nobody', async () => {
    await using scene = await open({ PUBLIC_ANSWERS: 'on' });
    const { program, ask } = scene;
    const { team, analyst } = program.sandbox.keys;
    const key = await program.issue({ name: 'page', expiresAt: new Date(START + 60_000).toISOString() });
    expect(await ask(key)).toMatchObject({ caching: 'public, max-age=300', calls: 1 });
    // Cached under the key that both stand for.
    expect(await ask(team)).toMatchObject({ caching: 'private, max-age=300', calls: 0 });
    expect(await ask(analyst)).toMatchObject({ caching: 'private, max-age=300', calls: 1 });
    const limited = await program.issue({ name: 'limited', tags: ['markets'] });
    program.pass(61);
    for (const [refused, status] of [
      [null, 401],
      ['cgk_none', 401],
      [limited, 403],
      [key, 401],
    ] as const)
      expect(await ask(refused)).toMatchObject({ status, caching: 'no-store', calls: 0 });
  });

  it('answers to an issued key stay private if they hold for no known time, or several come in one', async () => {
    await using scene = await open({ PUBLIC_ANSWERS: 'on' });
    const { program, ask } = scene;
    const key = await program.issue({ name: 'page' });
    expect((await ask(key, '{ quota { plan } }')).caching).toBe('private');
    const unknown = FIGURE.replace('population_total', 'no_such_key');
    expect((await ask(key, unknown)).caching).toBe('private');
    const response = await fetch(program.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify([{ query: FIGURE }, { query: FIGURE }]),
    });
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'private']);
  });

  it('answers to an issued key are private where the operator says nothing', async () => {
    await using scene = await open({ CACHE_TAGS: 'cache-tag' });
    const { program, ask } = scene;
    const key = await program.issue({ name: 'page' });
    expect(await ask(key)).toMatchObject({ caching: 'private, max-age=300', calls: 1 });
  });
});
