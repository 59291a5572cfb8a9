import { describe, expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';

const LONG = 'x'.repeat(100_000);

describe('what an answer tells of errors', () => {
  it('what an answer tells of errors ends with a whole character, as strict readers of JSON want it', async () => {
    await using program = await openProgram();
    for (const before of ['', 'x']) {
      const { errors, upstream } = await program.ask(
        `{ indicator(key: "${before} ${'😀'.repeat(300)}") { key } }`,
      );
      expect(errors).toHaveLength(1);
      expect(errors[0]?.message).toMatch(/😀\ufffd?…$/);
      expect(errors[0]?.message.isWellFormed()).toBe(true);
      expect(upstream.calls).toBe(0);
    }
  });

  it('what an answer tells of errors is a thousand of them, and how many more there are by code', async () => {
    await using program = await openProgram({ env: { UPSTREAM_RETRIES: '0' } });
    program.sandbox.faults.set({ kind: 'status', status: 500, route: '/v1/data' });
    const fields = Array.from(
      { length: 20 },
      (_, i) => `f${i}: observation(metricKey: "population_total") { value }`,
    );
    const { errors, data, upstream } = await program.ask(`{ countries { ${fields.join(' ')} } }`);
    expect(errors).toHaveLength(1001);
    expect(errors.at(-1)).toEqual({
      message: 'There are 80 errors more than an answer lists.',
      extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true, leftOut: { UPSTREAM_UNAVAILABLE: 80 } },
    });
    expect(data.countries).toHaveLength(54);
    expect(upstream.byRoute).toEqual({ '/v1/countries': 1, '/v1/data': 1 });
    expect(program.operations[0]?.errorCodes).toHaveLength(1080);
  });

  it.for([
    ['a field that is not there', `{ ${LONG} }`],
    ['a text that is none', `{ country(code: "${LONG}" }`],
    ['an operation that is not there', '{ health { status } }', { operationName: LONG }],
    [
      'a value that fits no type',
      'query ($code: CountryCode!) { country(code: $code) { name } }',
      { variables: { code: LONG } },
    ],
    ['a value that fits no field', `{ country(code: "${LONG}") { name } }`],
    ['a key of figures', `{ node(id: "${LONG}") { id } }`],
  ] as const)('what an answer tells of errors is short: %s', async ([, query, more = {}]) => {
    await using program = await openProgram();
    const response = await fetch(program.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${program.sandbox.keys.team}` },
      body: JSON.stringify({ query, ...more }),
    });
    const text = await response.text();
    expect(text).toContain('"errors"');
    expect(text.length).toBeLessThan(2_000);
    expect(JSON.parse(text).extensions.upstream.calls).toBe(0);
    expect(program.requests()).toEqual([]);
  });

  it('what an answer tells of errors is short of the words of the service', async () => {
    await using program = await openProgram();
    program.sandbox.faults.set({ kind: 'status', status: 403, body: { detail: LONG } });
    const { errors, upstream } = await program.ask('{ sources { key } }');
    expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    expect(String(errors[0]?.extensions.detail)).toHaveLength(501);
    expect(upstream.calls).toBe(1);
  });
});

describe('an answer that is too long', () => {
  it.for([
    ['by its plan', '{ countries { name officialName record } }', 1],
    ['of the schema', '{ __schema { types { name description fields { name description } } } }', 0],
  ] as const)(
    'an answer that is too long is refused by the name of the setting: %s',
    async ([, query, calls]) => {
      await using program = await openProgram({ env: { MAX_ANSWER_BYTES: '2000' } });
      const { data, errors, upstream, status } = await program.ask(query);
      expect([status, data]).toEqual([200, null]);
      expect(errors).toMatchObject([
        {
          message: expect.stringContaining('MAX_ANSWER_BYTES'),
          extensions: { code: 'OPERATION_TOO_EXPENSIVE', retryable: false, limit: 2000 },
        },
      ]);
      expect(upstream.calls).toBe(calls);
      expect(program.requests()).toHaveLength(calls);
    },
  );

  it('an answer that is too long is not kept for when the same is asked again', async () => {
    const env = { CACHE_URL: 'memory:', MAX_ANSWER_BYTES: '2000' };
    await using program = await openProgram({ env });
    for (const calls of [1, 0, 0]) {
      const { errors, upstream } = await program.ask('{ countries { name officialName record } }');
      expect(errors).toMatchObject([{ extensions: { code: 'OPERATION_TOO_EXPENSIVE' } }]);
      expect(upstream.calls).toBe(calls);
    }
    expect(program.operations.map(({ repeated }) => repeated)).toEqual([false, false, false]);
  });
});
