import { describe, expect, it } from 'vitest';
import { sha256Of } from '../../src/graphql/request/persisted.ts';
import { open } from './exchange.ts';

const FIGURE = '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }';
const COUNTRIES = '{ countries { code name } }';

/** Every figure is another from now on. */
const revise = (program: Awaited<ReturnType<typeof open>>) =>
  program.sandbox.faults.set({
    kind: 'shape',
    patch: (body) => ({ ...body, data: body.data.map((row: object) => ({ ...row, value: 4711 })) }),
  });

describe('an answer to a GET', () => {
  it('an answer to a GET has a tag, the same whether it cost a call, was held, or was repeated', async () => {
    await using program = await open();
    const get = { method: 'GET', body: { query: FIGURE } } as const;
    const replies = [await program.send(get), await program.send(get), await program.send(get)];
    expect(program.requests()).toHaveLength(1);
    expect(program.repeats()).toEqual([false, false, true]);
    for (const { status, headers } of replies) {
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        etag: replies[0]?.headers.etag,
        'cache-control': 'private, max-age=300',
      });
      expect(headers.etag).toMatch(/^W\/"[\w-]{27}"$/);
      expect(headers.vary).toContain('Authorization');
    }
    program.pass(300);
    const renewed = await program.send(get);
    expect(renewed.headers.etag).toBe(replies[0]?.headers.etag);
    expect(program.requests()).toHaveLength(1);
  });

  it('an answer to a GET has another tag once the data are others', async () => {
    await using program = await open();
    const get = { method: 'GET', body: { query: FIGURE } } as const;
    const { headers } = await program.send(get);
    program.pass(300);
    revise(program);
    const conditional = { ...get, headers: { 'if-none-match': String(headers.etag) } };
    const revised = await program.send(conditional);
    expect(revised.status).toBe(200);
    expect(JSON.parse(revised.text).data.country.observation.value).toBe(4711);
    expect(revised.headers.etag).not.toBe(headers.etag);
    expect(program.requests()).toHaveLength(2);
  });

  it.for([
    ['a small answer', FIGURE],
    ['a large one', COUNTRIES],
  ] as const)('an answer to a GET is not sent to who has it already: %s', async ([, query]) => {
    await using program = await open();
    const get = { method: 'GET', body: { query }, headers: { 'accept-encoding': 'br' } } as const;
    const whole = await program.send(get);
    const etag = String(whole.headers.etag);
    program.requests();
    // The second goes the long way, and all after it are repeats; the last ones name several tags, or any.
    for (const tags of [etag, etag, etag, `"other", ${etag}`, etag.replace('W/', ''), '*']) {
      const { status, headers, bytes } = await program.send({
        ...get,
        headers: { ...get.headers, 'if-none-match': tags },
      });
      expect([status, bytes.length]).toEqual([304, 0]);
      expect(headers).toMatchObject({ etag, 'cache-control': 'private, max-age=300' });
      expect(headers['content-encoding']).toBeUndefined();
      for (const name of String(whole.headers.vary).split(', ')) expect(headers.vary).toContain(name);
    }
    expect(program.requests()).toEqual([]);
    // `fetch` adds `Cache-Control: no-cache` of its own accord: the tag alone decides.
    for (const cacheControl of ['no-cache', 'no-store', 'max-age=0, no-cache']) {
      const headers = { 'if-none-match': etag, 'cache-control': cacheControl };
      expect(await program.send({ ...get, headers })).toMatchObject({ status: 304, headers: { etag } });
    }
    for (const headers of [{ 'if-none-match': '"other"' }, { 'cache-control': 'no-cache' }]) {
      expect(await program.send({ ...get, headers })).toMatchObject({ status: 200, headers: { etag } });
    }
  });

  it('an answer to a GET is the same for two keys that are told the same, and each has paid', async () => {
    await using program = await open();
    const get = { method: 'GET', body: { query: FIGURE } } as const;
    const { headers } = await program.send(get);
    const other = await program.send({
      ...get,
      key: program.sandbox.keys.analyst,
      headers: { 'if-none-match': String(headers.etag) },
    });
    expect(other.status).toBe(304);
    expect(program.sandbox.log.map(({ key }) => key)).toEqual(['team', 'analyst']);
    program.requests();
    const nobody = await program.send({ ...get, key: null, headers: { 'if-none-match': '*' } });
    expect([nobody.status, nobody.headers.etag]).toEqual([200, undefined]);
    expect(JSON.parse(nobody.text).errors[0].extensions.code).toBe('UNAUTHENTICATED');
  });

  it('an answer to a GET has no tag where it is a price, which is another once something is held', async () => {
    await using program = await open();
    const priced = async (others: Record<string, string> = {}) => {
      const headers = { 'x-explain': '1', 'if-none-match': '*', ...others };
      const {
        status,
        text,
        headers: told,
      } = await program.send({
        method: 'GET',
        body: { query: FIGURE },
        headers,
      });
      expect([status, told.etag]).toEqual([200, undefined]);
      return JSON.parse(text).extensions.explain.calls;
    };
    expect([await priced(), await priced()]).toEqual([1, 1]);
    expect(program.requests()).toEqual([]);
    await program.send({ body: { query: FIGURE } });
    expect(program.requests()).toHaveLength(1);
    expect(await priced()).toBe(0);
    expect(program.requests()).toEqual([]);
  });

  it.for([
    ['an error', '{ node(id: "none") { id } }'],
    ['an error beside data', '{ __typename node(id: "none") { id } }'],
    ['no operation', '{'],
    ['a field that is not there', '{ nothing }'],
  ] as const)('an answer to a GET has no tag where there is %s', async ([, query]) => {
    await using program = await open();
    for (let i = 0; i < 3; i += 1) {
      const reply = await program.send({
        method: 'GET',
        body: { query },
        headers: { 'if-none-match': '*', accept: 'application/graphql-response+json' },
      });
      expect(reply.status).not.toBe(304);
      expect(reply.headers.etag).toBeUndefined();
      expect(reply.headers['cache-control']).toBe('no-store');
      expect(JSON.parse(reply.text).errors).toHaveLength(1);
    }
    expect(program.requests()).toEqual([]);
  });
});

describe('an answer to a POST', () => {
  it('an answer to a POST is sent whole whatever the client has, and has no tag', async () => {
    await using program = await open();
    for (let i = 0; i < 3; i += 1) {
      const { status, headers } = await program.send({
        body: { query: FIGURE },
        headers: { 'if-none-match': '*' },
      });
      expect([status, headers.etag]).toEqual([200, undefined]);
    }
    expect(program.repeats()).toEqual([false, false, true]);
    expect(program.requests()).toHaveLength(1);
  });

  it('an answer to a POST has the tag that a GET has, if the operation is named by its hash', async () => {
    await using program = await open();
    const sha256Hash = sha256Of(FIGURE);
    const extensions = { persistedQuery: { version: 1, sha256Hash } };
    const { headers } = await program.send({ method: 'GET', body: { query: FIGURE, extensions } });
    for (const body of [{ extensions }, { extensions }, { documentId: sha256Hash }]) {
      const named = await program.send({ body, headers: { 'if-none-match': String(headers.etag) } });
      expect([named.status, named.headers.etag]).toEqual([200, headers.etag]);
      expect(JSON.parse(named.text).data.country.observation.value).toBeGreaterThan(0);
    }
    // Asks in another form for the first time.
    const accept = 'application/graphql-response+json';
    for (let i = 0; i < 3; i += 1) {
      const named = await program.send({ body: { extensions }, headers: { accept } });
      expect([named.headers['content-type'], named.headers.etag]).toEqual([
        expect.stringContaining(accept),
        headers.etag,
      ]);
    }
    expect(program.requests()).toHaveLength(1);
  });
});

describe('a GET that a page of another origin could send', () => {
  const bare = { 'apollo-require-preflight': '' };
  const keyless = { key: null, headers: bare } as const;
  it.for([
    ['no header of its own', bare],
    ['a form', { ...bare, 'content-type': 'text/plain' }],
    ['another form', { ...bare, 'content-type': 'application/x-www-form-urlencoded' }],
  ] as const)(
    'a GET that a page of another origin could send is refused also for what is known by now: %s',
    async ([, headers]) => {
      await using program = await open();
      for (let i = 0; i < 3; i += 1) await program.send({ body: { query: FIGURE } });
      program.requests();
      program.repeats();
      for (let i = 0; i < 2; i += 1) {
        const reply = await program.send({ ...keyless, method: 'GET', body: { query: FIGURE }, headers });
        expect(reply.status).toBe(400);
        expect(reply.headers.etag).toBeUndefined();
        expect(reply.text).toContain('Cross-Site Request Forgery');
        expect(JSON.parse(reply.text).data).toBeUndefined();
      }
      expect(program.requests()).toEqual([]);
      expect(program.repeats()).toEqual([]);
    },
  );

  it.for([
    { 'apollo-require-preflight': '1' },
    { ...bare, 'x-apollo-operation-name': 'any' },
    { ...bare, 'content-type': 'application/json' },
    { ...bare, 'content-type': 'application/json; charset=utf-8' },
    // Requests of urql 6 for a short query, of graphql-request 7 with `method: 'GET'`, and of Apollo Client 4
    // for a persisted one with `useGETForHashedQueries`: no header of its own but the key, which browsers ask
    // leave for by itself.
    { ...bare, accept: 'application/graphql-response+json, application/graphql+json, application/json' },
    bare,
  ])('a GET that a page of another origin could send is let in with %o', async (headers) => {
    await using program = await open();
    for (let i = 0; i < 3; i += 1) {
      expect(await program.send({ method: 'GET', body: { query: FIGURE }, headers })).toMatchObject({
        status: 200,
      });
    }
    expect(program.repeats()).toEqual([false, false, true]);
    expect(program.requests()).toHaveLength(1);
  });
});
