import { serverAudits } from 'graphql-http';
import { expect, test } from 'vitest';
import { openProgram } from '../support/program.ts';

/** Set by every client of ours that sends requests which a web page could send without asking: see CSRF prevention. */
const fetchFn: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  headers.set('apollo-require-preflight', '1');
  return fetch(input, { ...init, headers });
};

test('the gateway keeps all of GraphQL over HTTP, MUST, SHOULD and MAY alike', async () => {
  await using program = await openProgram();
  const audits = serverAudits({ url: program.url, fetchFn });
  expect(audits).toHaveLength(61);
  const results = await Promise.all(audits.map((audit) => audit.fn()));
  const shortfalls = results.flatMap((result) =>
    result.status === 'ok' ? [] : [`${result.id} ${result.name}: ${result.reason}`],
  );
  expect(shortfalls).toEqual([]);
  expect(program.requests()).toEqual([]);
});

test('a request that a page could send across sites unasked is refused before it runs', async () => {
  await using program = await openProgram();
  const response = await fetch(`${program.url}?query={health{status}}`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    errors: [{ extensions: { code: 'BAD_REQUEST', retryable: false } }],
    extensions: { upstream: { calls: 0, byRoute: {} } },
  });
  const withHeader = await fetchFn(`${program.url}?query={health{status}}`);
  expect(await withHeader.json()).toMatchObject({ data: { health: { status: 'ok' } } });
  expect(program.requests()).toEqual(['GET /health']);
});
