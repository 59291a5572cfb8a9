import { describe, expect, it } from 'vitest';
import type { FaultKind } from '../../src/sandbox/faults.ts';
import { askTimedOut } from '../support/timed-out.ts';
import { openTimedProgram, type TimedOptions } from '../support/timed-program.ts';

const FIGURE = 'observation(metricKey: "population_total") { value freshness { fetchedAt stale reason } }';
const QUERY = `{ country(code: "KE") { profile { record } signals { observations { value freshness { stale reason } } } ${FIGURE} } }`;
const FIGURES =
  '{ observations(countryCodes: ["KE", "NG"], metricKeys: ["population_total"], latest: true) { value } }';
const ROUTES = ['/v1/countries/{code}/profile', '/v1/countries/{code}/signals', '/v1/data'];

const TIMEOUT_MS = 1_000;

const open = ({ env, ...options }: TimedOptions = {}) =>
  openTimedProgram({
    ...options,
    env: { UPSTREAM_TIMEOUT_MS: String(TIMEOUT_MS), UPSTREAM_RETRIES: '0', ...env },
  });

const limited = (detail: string): FaultKind => ({ kind: 'status', status: 429, body: { detail } });

const PAGE = '<!DOCTYPE html><title>One moment</title><body>Checking your browser</body>';
const page = (status: number, body: unknown = PAGE): FaultKind => ({ kind: 'status', status, body });
const PROBLEM = {
  type: 'about:blank',
  title: 'Access denied',
  status: 403,
  detail: 'Your address is blocked',
};

const FAULTS: Record<string, { fault: FaultKind; code: string }> = {
  'a minute that is spent': {
    fault: limited("rate limit exceeded for plan 'team': 1000 requests per minute"),
    code: 'RATE_LIMITED',
  },
  'a month that is spent': {
    fault: limited("request blocked: the monthly request limit for plan 'team' was reached"),
    code: 'MONTHLY_QUOTA_EXCEEDED',
  },
  'a 500': { fault: { kind: 'status', status: 500 }, code: 'UPSTREAM_UNAVAILABLE' },
  'a reset': { fault: { kind: 'reset' }, code: 'UPSTREAM_UNAVAILABLE' },
  'half a body': { fault: { kind: 'cut' }, code: 'UPSTREAM_UNAVAILABLE' },
  ...Object.fromEntries(
    [400, 401, 403, 407, 422, 429, 451].map((status) => [
      `a page of ${status}`,
      { fault: page(status), code: 'UPSTREAM_UNAVAILABLE' },
    ]),
  ),
  'a page of 404': { fault: page(404), code: 'UPSTREAM_INVALID_RESPONSE' },
  'an empty 403': { fault: page(403, ''), code: 'UPSTREAM_UNAVAILABLE' },
  "a firewall's 403 in JSON": { fault: page(403, { message: 'Forbidden' }), code: 'UPSTREAM_UNAVAILABLE' },
  "a CDN's problem document": { fault: page(403, PROBLEM), code: 'UPSTREAM_UNAVAILABLE' },
  "a CDN's 404 in JSON": {
    fault: page(404, { message: 'No such country' }),
    code: 'UPSTREAM_INVALID_RESPONSE',
  },
  'no answer': { fault: { kind: 'hang' }, code: 'UPSTREAM_TIMEOUT' },
  'a body that drips': { fault: { kind: 'drip', ms: 100, bytes: 1 }, code: 'UPSTREAM_TIMEOUT' },
  'latency beyond the timeout': { fault: { kind: 'latency', ms: 600_000 }, code: 'UPSTREAM_TIMEOUT' },
  'a page of HTML': { fault: { kind: 'garbage' }, code: 'UPSTREAM_INVALID_RESPONSE' },
  'a body of another shape': {
    fault: { kind: 'shape', patch: () => ({ data: 'none' }) },
    code: 'UPSTREAM_INVALID_RESPONSE',
  },
};

describe.each(Object.entries(FAULTS))('with %s', (_, { fault, code }) => {
  type Timed = Awaited<ReturnType<typeof openTimedProgram>>;
  /** @param calls that meet the fault */
  const askAt = (program: Timed, calls: number, query: string) =>
    code === 'UPSTREAM_TIMEOUT'
      ? askTimedOut(program, query, { calls, timeoutMs: TIMEOUT_MS })
      : program.ask(query);

  it('what is held past its time is served, and said to be', async () => {
    await using program = await open();
    const fresh = await program.ask(QUERY);
    expect(fresh.errors).toEqual([]);
    program.pass(1000);
    program.sandbox.faults.set(fault);
    const { data, errors, upstream, headers } = await askAt(program, 3, QUERY);
    expect(errors).toEqual([]);
    expect(data.country.profile).toEqual(fresh.data.country.profile);
    expect(data.country.observation).toEqual({
      value: fresh.data.country.observation.value,
      freshness: { fetchedAt: '2026-03-10T12:00:30.000Z', stale: true, reason: code },
    });
    for (const { freshness } of data.country.signals.observations)
      expect(freshness).toEqual({ stale: true, reason: code });
    const stale = [...(upstream.stale ?? [])].sort((a, b) => a.route.localeCompare(b.route));
    expect(stale).toMatchObject(
      ROUTES.map((route) => ({
        route,
        code,
        answers: 1,
        oldestFetchedAt: '2026-03-10T12:00:30.000Z',
        ageSeconds: 1000,
      })),
    );
    expect(upstream.cached).toBe(0);
    expect(headers.get('cache-control')).toBe('private');
  });

  it('the errors are typed if nothing is cached', async () => {
    await using program = await open();
    program.sandbox.faults.set(fault);
    const { errors, upstream } = await askAt(program, 3, QUERY);
    expect(errors.map(({ extensions }) => extensions.code).sort()).toEqual([code, code, code]);
    expect(upstream.stale).toBeUndefined();
  });

  it('what is held is not served past STALE_IF_ERROR_SECONDS, nor to a field that insists', async () => {
    await using program = await open({ env: { STALE_IF_ERROR_SECONDS: '600' } });
    await program.ask(QUERY);
    program.pass(890);
    program.sandbox.faults.set(fault);
    const insisting = QUERY.replace('"population_total"', '"population_total", maxAge: 800');
    const strict = await askAt(program, 3, insisting);
    expect(strict.errors.map(({ path, extensions }) => [path?.at(-1), extensions.code])).toEqual([
      ['observation', code],
    ]);
    program.pass(20);
    const late = await askAt(program, 2, QUERY);
    expect(late.errors.map(({ extensions }) => extensions.code)).toEqual([code, code, code]);
  });
});

it('a route that fails is no reason to serve the old of another', async () => {
  await using program = await open();
  const figure = `{ country(code: "KE") { ${FIGURE} } }`;
  await program.ask(figure);
  program.pass(1000);
  program.sandbox.faults.set({ kind: 'status', status: 503, route: '/v1/countries/{code}/signals' });
  for (const code of ['KE', 'NG', 'GH', 'ZA'])
    await program.ask(`{ country(code: "${code}") { signals { record } } }`);
  const { data, upstream } = await program.ask(figure);
  expect(data.country.observation.freshness).toMatchObject({ stale: false });
  expect([upstream.calls, upstream.stale]).toEqual([1, undefined]);
});

describe('a spent minute', () => {
  it('a spent minute serves the old for as long as it lasts, says until when, and asks no more', async () => {
    await using program = await open({
      sandbox: { plans: { team: { requestsPerMinute: 3, monthlyRequests: 100 } } },
    });
    await program.ask(QUERY);
    program.pass(600);
    await program.ask('{ indicators { key } sources { key } tickers(exchangeCode: "NGX") { symbol } }');
    program.requests();
    const first = await program.ask(QUERY);
    const second = await program.ask(QUERY);
    expect(program.requests().length).toBeLessThanOrEqual(3);
    for (const { errors, upstream } of [first, second]) {
      expect(errors).toEqual([]);
      expect(upstream.stale?.map(({ code, retryAt }) => [code, retryAt])).toEqual(
        ROUTES.map(() => ['RATE_LIMITED', '2026-03-10T12:11:00.000Z']),
      );
    }
    expect(second.upstream.calls).toBe(0);
    program.pass(60);
    expect((await program.ask(QUERY)).upstream).toMatchObject({ calls: 3 });
  });
});

describe('a service that is down', () => {
  it('a service that is down keeps nobody waiting who can be served the old, and is looked at once in a while', async () => {
    await using program = await open();
    await program.ask(QUERY);
    program.pass(1000);
    program.sandbox.faults.set({ kind: 'hang' });
    program.requests();
    // Three calls that time out are enough to know.
    const at = (calls: number, query: string) =>
      askTimedOut(program, query, { calls, timeoutMs: TIMEOUT_MS });
    expect((await at(3, QUERY)).upstream.calls).toBe(3);
    const waiting = await program.ask(QUERY);
    expect(waiting).toMatchObject({ errors: [], upstream: { calls: 0 } });
    expect(waiting.upstream.stale?.map(({ code }) => code)).toEqual(ROUTES.map(() => 'UPSTREAM_TIMEOUT'));
    // Asks all the same for lists that were never held.
    const cold = await at(1, '{ indicators { key } }');
    expect(cold).toMatchObject({ upstream: { calls: 1 } });
    expect(cold.errors.map(({ extensions }) => extensions.attempts)).toEqual([1]);
    program.pass(5);
    expect((await at(1, QUERY)).upstream.calls).toBe(1);
    program.sandbox.faults.clear();
    program.pass(5);
    expect(await program.ask(QUERY)).toMatchObject({ errors: [], upstream: { calls: 1 } });
    const well = await program.ask(QUERY);
    expect(well).toMatchObject({ errors: [], upstream: { calls: 2, cached: 1 } });
    expect(well.upstream.stale).toBeUndefined();
  });
});

describe('a key that the service refuses', () => {
  it.for([
    // Sends nothing under the key: all that needs a call says so.
    [401, 'UNAUTHENTICATED', 1, null],
    [403, 'FORBIDDEN', 3, { profile: null, signals: null, observation: null }],
  ] as const)(
    'a key that the service refuses with %d is served nothing old, and nothing fresh',
    async ([status, code, errors, country]) => {
      await using program = await open();
      await program.ask(QUERY);
      program.sandbox.faults.set({ kind: 'status', status });
      // Fresh as it is, it is served until the service has been asked.
      expect((await program.ask(QUERY)).upstream).toMatchObject({ calls: 0 });
      const asked = await program.ask('{ country(code: "NG") { offices { name } } }');
      expect(asked.errors.map(({ extensions }) => extensions.code)).toEqual([code]);
      const after = await program.ask(QUERY);
      expect(after.errors.map(({ extensions }) => extensions.code)).toEqual(Array(errors).fill(code));
      expect(after.data).toEqual({ country });
      // Serves nothing old later on, when the service can't be asked, either.
      program.sandbox.faults.clear();
      program.sandbox.faults.set({ kind: 'reset' });
      program.pass(60);
      const unasked = await program.ask(QUERY);
      expect(unasked.data).toEqual({ country: { profile: null, signals: null, observation: null } });
      expect(unasked.errors.map(({ extensions }) => extensions.code)).toContain('UPSTREAM_UNAVAILABLE');
    },
  );

  it.each([401, 403, 429])(
    'a key that the service refuses is another thing than a page of %d, which is asked again',
    async (status) => {
      await using program = await open({ env: { UPSTREAM_RETRIES: '2' } });
      program.sandbox.faults.set(page(status));
      const blocked = await program.ask(FIGURES);
      expect(blocked.errors.map(({ extensions }) => extensions.code)).toEqual(['UPSTREAM_UNAVAILABLE']);
      expect(blocked.errors[0]).toMatchObject({
        message: `Something between the gateway and the service answered in its place, with status ${status}.`,
        extensions: { retryable: true, attempts: 1 },
      });
      expect(blocked.upstream.calls).toBe(1);
      program.sandbox.faults.clear();
      expect(await program.ask(FIGURES)).toMatchObject({ errors: [], upstream: { calls: 1 } });
    },
  );

  it('a key that the service refuses is found out within AUTH_TTL_SECONDS, though everything is held and fresh', async () => {
    await using program = await open({ env: { CACHE_TTL_SECONDS: '86400', AUTH_TTL_SECONDS: '100' } });
    const figures = FIGURES;
    const first = await program.ask(figures);
    program.requests();
    program.pass(100);
    expect((await program.ask(figures)).upstream.calls).toBe(0);
    program.pass(1);
    // Asking once proves the key, and then it counts as accepted anew.
    const proved = await program.ask(figures);
    expect([proved.data, proved.upstream.calls]).toEqual([first.data, 1]);
    expect((await program.ask(figures)).upstream.calls).toBe(0);
    program.sandbox.faults.set({ kind: 'status', status: 401 });
    program.pass(100);
    expect((await program.ask(figures)).upstream.calls).toBe(0);
    program.pass(1);
    const { data, errors, status } = await program.ask(figures);
    expect([status, data.observations, errors[0]?.extensions.code]).toEqual([401, null, 'UNAUTHENTICATED']);
  });

  it('a key that the service refuses in the middle of an operation is not served what is held for the rest of it', async () => {
    await using program = await open();
    const figures = (codes: string) =>
      `{ observations(countryCodes: [${codes}], metricKeys: ["population_total"], latest: true) { value } }`;
    await program.ask(figures('"KE"'));
    program.sandbox.faults.set({ kind: 'status', status: 401 });
    const { data, errors } = await program.ask(figures('"KE", "NG"'));
    expect([data.observations, errors.length]).toEqual([null, 1]);
  });
});
