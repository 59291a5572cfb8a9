import { once } from 'node:events';
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { openProgram, type Program } from '../support/program.ts';

const QUERY = '{ countries { name } }';

/** Asks with such headers, each as often as it is given. */
async function askWith(program: Program, authorization: string | string[]) {
  const outgoing = request(program.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
  });
  outgoing.setHeader('authorization', authorization);
  outgoing.end(JSON.stringify({ query: QUERY }));
  const [response] = await once(outgoing, 'response');
  let text = '';
  for await (const chunk of response) text += chunk;
  const { errors, extensions } = JSON.parse(text);
  for (const error of errors ?? []) delete error.extensions.requestId;
  return { status: response.statusCode, headers: response.headers, errors, extensions };
}

describe('the key of a request', () => {
  it('the key of a request is the same however its scheme is spelt', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
    const key = program.sandbox.keys.team;
    expect((await askWith(program, `Bearer ${key}`)).extensions.upstream.calls).toBe(1);
    for (const same of [`bearer ${key}`, `BEARER   ${key}`, ` Bearer ${key}  `]) {
      expect((await askWith(program, same)).extensions.upstream).toMatchObject({ calls: 0, cached: 1 });
    }
    expect((await askWith(program, `Bearer ${key}x`)).errors).toMatchObject([
      { extensions: { code: 'UNAUTHENTICATED' } },
    ]);
    expect(program.requests()).toHaveLength(2);
  });

  it('the key of a request goes to the service as it came', async () => {
    await using program = await openProgram();
    const { sandbox } = program;
    const { errors } = await askWith(program, `bearer   ${sandbox.keys.team}`);
    expect(errors).toBeUndefined();
    expect(sandbox.log.map(({ key }) => key)).toEqual(['team']);
  });

  it('the key of a request is one, or nobody can tell whose the request is', async () => {
    await using program = await openProgram();
    const { team, analyst } = program.sandbox.keys;
    const { status, errors } = await askWith(program, [`Bearer ${team}`, `Bearer ${analyst}`]);
    expect([status, errors]).toEqual([
      400,
      [
        {
          message: expect.stringContaining('several'),
          extensions: { code: 'BAD_REQUEST', retryable: false },
        },
      ],
    ]);
    expect(program.requests()).toEqual([]);
  });

  it.for([
    ['longer than any', `Bearer ${'k'.repeat(5_000)}`],
    ['not printable', 'Bearer key\u00e9'],
    ['two words', 'Bearer one two'],
  ])(
    'the key of a request is refused before anything else where it is %s',
    async ([, authorization = '']) => {
      await using program = await openProgram();
      const { status, headers, errors } = await askWith(program, authorization);
      expect([status, headers['www-authenticate'], headers['cache-control']]).toEqual([
        401,
        'Bearer',
        'no-store',
      ]);
      expect(errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED', retryable: false } }]);
      expect([program.requests(), program.operations]).toEqual([[], []]);
    },
  );
});

describe('a key that the service has just refused', () => {
  it.each([
    '{ country(code: "KE") { id code __typename } }',
    '{ country(code: "KE") { code observations(metricKeys: []) { value } } }',
    '{ country(code: "KE") { code observation(metricKey: "population_total") { value } } }',
    '{ indicator(key: "population_total") { key } }',
    '{ quota { state } }',
  ])('a key that the service has just refused is told so whatever is asked: %s', async (query) => {
    await using program = await openProgram();
    const refused = await program.ask('{ country(code: "KE") { observation(metricKey: "a") { value } } }', {
      key: 'made-up',
    });
    expect(refused.status).toBe(401);
    program.requests();
    const { status, errors } = await program.ask(query, { key: 'made-up' });
    expect([status, program.requests()]).toEqual([401, []]);
    expect(errors).toMatchObject([
      { extensions: { code: 'UNAUTHENTICATED', detail: refused.errors[0]?.extensions.detail } },
    ]);
    expect((await program.ask(query)).errors).toEqual([]);
    expect((await program.ask('{ health { status } }', { key: 'made-up' })).errors).toEqual([]);
  });
});
