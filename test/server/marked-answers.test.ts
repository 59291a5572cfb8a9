import { expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';

/** An answer of each kind, by method and address. */
const ADDRESSES = [
  'GET /',
  'GET /graphql?query={health{status}}',
  'POST /graphql',
  'QUERY /graphql',
  'PUT /graphql',
  'OPTIONS /graphql',
  'GET /graphql/stream',
  'POST /mcp',
  'GET /graphiql',
  'GET /graphiql/',
  'GET /graphiql/none.js',
  'GET /schema.graphql',
  'GET /health/live',
  'GET /health/ready',
  'GET /metrics',
  'GET /none',
  'GET /%zz',
] as const;

it.each(ADDRESSES)('an answer is taken for nothing but its type: %s', async (asked) => {
  await using program = await openProgram({ env: { SUBSCRIPTIONS: 'on' } });
  const [method = 'GET', path = ''] = asked.split(' ');
  const answer = await fetch(new URL(path, program.url), { method, redirect: 'manual' });
  await answer.text();
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
});

it('an answer of the port of operators is taken for nothing but its type', async () => {
  await using program = await openProgram({ env: { ADMIN_PORT: '0' } });
  for (const path of ['/metrics', '/health/live', '/none']) {
    const answer = await fetch(new URL(path, program.adminUrl));
    await answer.text();
    expect([path, answer.headers.get('x-content-type-options')]).toEqual([path, 'nosniff']);
  }
});
