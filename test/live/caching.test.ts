import { expect, it } from 'vitest';
import { openPublishing } from '../address/publishing.ts';
import { open } from '../operations/exchange.ts';

const LIVE = { SUBSCRIPTIONS: 'on' };
const REVALIDATED = 'private, max-age=0, must-revalidate';

it('where events may come, an HTTP cache asks each time, and is told at no call that its copy is the newest', async () => {
  await using program = await open({ env: LIVE });
  const get = {
    method: 'GET',
    body: { query: '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }' },
  } as const;
  const { headers } = await program.send(get);
  expect(headers['cache-control']).toBe(REVALIDATED);
  program.requests();
  // From the cached figures, then by the cached bytes.
  for (const _ of [1, 2]) {
    const again = await program.send({ ...get, headers: { 'if-none-match': String(headers.etag) } });
    expect([again.status, again.headers['cache-control'], again.text]).toEqual([304, REVALIDATED, '']);
  }
  // Routers ask by POST.
  const posted = await program.send({ ...get, method: 'POST' });
  expect(posted.headers['cache-control']).toBe(REVALIDATED);
  expect(program.requests()).toEqual([]);
  const failed = await program.send({ method: 'GET', body: { query: '{ country(code: "KE") { absent } }' } });
  expect(failed.headers['cache-control']).toBe('no-store');
});

it('public documents may be cached as long as without subscriptions', async () => {
  await using program = await openPublishing({ env: LIVE });
  await program.issue({ name: 'page' });
  const { headers } = await program.at('/c/lines.json');
  expect(headers.get('cache-control')).toMatch(/^public, max-age=(300|29\d)$/);
});
