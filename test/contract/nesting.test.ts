import { describe, expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';

const DEPTH = 520_000;
const lists = `${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`;
const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

describe('a mebibyte of nested JSON', () => {
  it.for([
    ['lists alone', lists],
    ['lists that are never closed', '['.repeat(2 * DEPTH)],
    ['lists among the variables', `{"query":"{ health { status } }","variables":{"a":${lists}}}`],
    ['lists that end in a forbidden name', `${'['.repeat(DEPTH)}{"__proto__":1}${']'.repeat(DEPTH)}`],
    ['objects', objects(DEPTH / 3)],
    ['objects among the variables', `{"query":"{ health { status } }","variables":${objects(DEPTH / 3)}}`],
  ])('a mebibyte of nested JSON is the caller’s fault: %s', async ([, body]) => {
    await using program = await openProgram({ env: { MAX_BODY_BYTES: '2000000' } });
    const response = await fetch(program.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: body ?? '',
    });
    const text = await response.text();
    expect([response.status, text.length < 1_000]).toEqual([400, true]);
    expect(JSON.parse(text).errors).toMatchObject([
      { extensions: { code: 'BAD_REQUEST', retryable: false } },
    ]);
    expect([program.problems, program.requests()]).toEqual([[], []]);
  });
});

it('brackets in texts are not nested', async () => {
  await using program = await openProgram();
  const { data, errors } = await program.ask(`{ health { status } } # ${'[{"\\'.repeat(1_000)}`);
  expect([data, errors]).toEqual([{ health: { status: 'ok' } }, []]);
});

describe('a record that nests without end', () => {
  const deep = objects(50_000);
  it.for([
    [
      'countries',
      '/v1/countries',
      '{ countries { name record } }',
      `{"data":[{"id":"KE","name":"Kenya","x":${deep}}]}`,
    ],
    [
      'figures',
      '/v1/data',
      '{ observations(countryCodes: ["KE"], metricKeys: ["population_total"]) { record } }',
      `{"data":[{"x":${deep}}]}`,
    ],
    [
      'a profile',
      '/v1/countries/{code}/profile',
      '{ country(code: "KE") { profile { record } } }',
      `{"data":{"x":${deep}}}`,
    ],
    ['the health', '/health', '{ health { record } }', deep],
    ['a 404', '/v1/countries/{code}/profile', '{ country(code: "KE") { profile { record } } }', deep, 404],
  ] as const)(
    'a record that nests without end is the service’s fault: %s',
    async ([, route, query, body, status = 200]) => {
      await using program = await openProgram();
      program.sandbox.faults.set({ kind: 'status', status, body, route });
      const { errors, upstream } = await program.ask(query);
      expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_INVALID_RESPONSE', route } }]);
      expect(upstream.calls).toBe(1);
      expect(program.problems).toEqual([]);
    },
  );
});
