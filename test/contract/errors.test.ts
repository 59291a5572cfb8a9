import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Fault } from '../../src/sandbox/faults.ts';
import { FAILURES } from '../../src/shared/errors.ts';
import { WARNING_CODES } from '../../src/shared/warnings.ts';
import { type Asking, openProgram, type ProgramOptions } from '../support/program.ts';
import { askTimedOut } from '../support/timed-out.ts';

const FIGURE = '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }';
const LIST = '{ countries { name } }';
const TIMEOUT_MS = 60_000;
const SHORT = {
  UPSTREAM_TIMEOUT_MS: String(TIMEOUT_MS),
  OPERATION_TIMEOUT_MS: String(2 * TIMEOUT_MS),
  UPSTREAM_RETRIES: '1',
};

interface Case {
  readonly options?: ProgramOptions;
  readonly fault?: Fault;
  readonly query?: string;
  readonly asking?: (keys: Readonly<Record<string, string>>) => Asking;
  /** Times that the operation is asked before the one that counts. */
  readonly before?: number;
  readonly extensions: Readonly<Record<string, unknown>>;
  readonly calls: number;
  readonly status?: number;
}

/** Codes that no single operation meets here: `overload.test.ts`, `test/operations/persisted.test.ts`, `test/issued`. */
const ELSEWHERE = [
  'UPSTREAM_ROUTE_ABSENT',
  'NOT_HELD',
  'NOT_RECORDED',
  'OVERLOADED',
  'DOCUMENT_NOT_ALLOWED',
  'KEY_EXPIRED',
  'KEY_BUDGET_SPENT',
  'ORIGIN_NOT_ALLOWED',
];

const at = Date.parse('2026-11-21T10:00:42Z');
const held = { now: () => at, sleep: () => new Promise<void>(() => {}) };

const CASES: Record<string, Case> = {
  'UNAUTHENTICATED without a key': {
    asking: () => ({ key: null }),
    extensions: { code: 'UNAUTHENTICATED', retryable: false },
    calls: 0,
    status: 401,
  },
  'UNAUTHENTICATED with another scheme': {
    asking: () => ({ key: null, headers: { authorization: 'Basic Zm9v' } }),
    extensions: { code: 'UNAUTHENTICATED', retryable: false },
    calls: 0,
    status: 401,
  },
  'UNAUTHENTICATED by the service': {
    query: LIST,
    asking: () => ({ key: 'nobody' }),
    extensions: {
      code: 'UNAUTHENTICATED',
      retryable: false,
      route: '/v1/countries',
      detail: 'Not authenticated',
    },
    calls: 1,
    status: 401,
  },
  'UNAUTHENTICATED by the service, below a country that needs no list': {
    asking: () => ({ key: 'nobody' }),
    extensions: { code: 'UNAUTHENTICATED', retryable: false, route: '/v1/data' },
    calls: 1,
    status: 401,
  },
  FORBIDDEN: {
    asking: ({ forbidden = '' }) => ({ key: forbidden }),
    extensions: { code: 'FORBIDDEN', retryable: false, route: '/v1/data', detail: expect.any(String) },
    calls: 1,
  },
  RATE_LIMITED: {
    options: { sandbox: { now: held.now }, clock: held },
    before: 5,
    asking: ({ free = '' }) => ({ key: free }),
    extensions: {
      code: 'RATE_LIMITED',
      retryable: true,
      route: '/v1/data',
      detail: expect.stringContaining('5'),
      plan: 'free',
      requestsPerMinute: 5,
      retryAfterSeconds: 18,
      retryAt: '2026-11-21T10:01:00.000Z',
    },
    calls: 1,
  },
  'RATE_LIMITED before anything is sent': {
    options: { sandbox: { now: held.now }, clock: held },
    before: 6,
    asking: ({ free = '' }) => ({ key: free }),
    extensions: {
      code: 'RATE_LIMITED',
      retryable: true,
      plan: 'free',
      requestsPerMinute: 5,
      retryAfterSeconds: 18,
    },
    calls: 0,
  },
  MONTHLY_QUOTA_EXCEEDED: {
    options: { sandbox: { now: held.now }, clock: held },
    asking: ({ spent = '' }) => ({ key: spent }),
    extensions: {
      code: 'MONTHLY_QUOTA_EXCEEDED',
      retryable: false,
      route: '/v1/data',
      detail: expect.stringContaining('monthly request limit'),
      resetsAt: '2026-12-01T00:00:00.000Z',
      plan: 'free',
      monthlyRequests: 1000,
    },
    calls: 1,
  },
  'MONTHLY_QUOTA_EXCEEDED before anything is sent': {
    options: { sandbox: { now: held.now }, clock: held },
    before: 1,
    asking: ({ spent = '' }) => ({ key: spent }),
    extensions: { code: 'MONTHLY_QUOTA_EXCEEDED', retryable: false, resetsAt: '2026-12-01T00:00:00.000Z' },
    calls: 0,
  },
  'BAD_USER_INPUT in a variable': {
    query: 'query ($code: CountryCode!) { country(code: $code) { name } }',
    asking: () => ({ variables: { code: 'KENYA' } }),
    extensions: { code: 'BAD_USER_INPUT', retryable: false },
    calls: 0,
    status: 400,
  },
  'BAD_USER_INPUT in an argument': {
    query: '{ observations(countryCodes: ["KE"], metricKeys: ["a,b"]) { value } }',
    extensions: { code: 'BAD_USER_INPUT', retryable: false },
    calls: 0,
  },
  'BAD_USER_INPUT in years': {
    query:
      '{ observations(countryCodes: ["KE"], metricKeys: ["a"], fromYear: 2001, toYear: 2000) { value } }',
    extensions: { code: 'BAD_USER_INPUT', retryable: false },
    calls: 0,
  },
  'BAD_USER_INPUT in an identifier': {
    query: '{ node(id: "nothing") { id } }',
    extensions: { code: 'BAD_USER_INPUT', retryable: false },
    calls: 0,
  },
  'BAD_USER_INPUT by the service': {
    fault: {
      route: '/v1/data',
      kind: 'status',
      status: 422,
      body: { detail: [{ loc: ['query', 'x'], msg: 'no' }] },
    },
    extensions: { code: 'BAD_USER_INPUT', retryable: false, route: '/v1/data', detail: 'query.x: no' },
    calls: 1,
  },
  'GRAPHQL_VALIDATION_FAILED for a malformed literal': {
    query: '{ country(code: "KENYA") { name } }',
    extensions: { code: 'GRAPHQL_VALIDATION_FAILED', retryable: false },
    calls: 0,
    status: 400,
  },
  'UPSTREAM_UNAVAILABLE after a 5xx': {
    options: { env: SHORT },
    fault: { route: '/v1/data', kind: 'status', status: 503, body: { detail: 'down' } },
    extensions: {
      code: 'UPSTREAM_UNAVAILABLE',
      retryable: true,
      attempts: 2,
      route: '/v1/data',
      detail: 'down',
    },
    calls: 2,
  },
  'UPSTREAM_UNAVAILABLE after a broken connection': {
    options: { env: SHORT },
    fault: { route: '/v1/countries', kind: 'reset' },
    query: LIST,
    extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true, attempts: 2, route: '/v1/countries' },
    calls: 2,
  },
  'UPSTREAM_UNAVAILABLE after a body cut short': {
    options: { env: SHORT },
    fault: { route: '/v1/data', kind: 'cut' },
    extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true, attempts: 2, route: '/v1/data' },
    calls: 2,
  },
  'UPSTREAM_TIMEOUT without an answer': {
    options: { env: SHORT },
    fault: { route: '/v1/data', kind: 'hang' },
    extensions: { code: 'UPSTREAM_TIMEOUT', retryable: true, attempts: 1, route: '/v1/data' },
    calls: 1,
  },
  'UPSTREAM_TIMEOUT in the body': {
    options: { env: SHORT },
    fault: { route: '/v1/countries', kind: 'drip', ms: 20 },
    query: LIST,
    extensions: { code: 'UPSTREAM_TIMEOUT', retryable: true, attempts: 1, route: '/v1/countries' },
    calls: 1,
  },
  'UPSTREAM_INVALID_RESPONSE for what is not JSON': {
    fault: { route: '/v1/data', kind: 'garbage' },
    extensions: {
      code: 'UPSTREAM_INVALID_RESPONSE',
      retryable: false,
      route: '/v1/data',
      detail: expect.any(String),
    },
    calls: 1,
  },
  'UPSTREAM_INVALID_RESPONSE for a record': {
    fault: {
      route: '/v1/data',
      kind: 'shape',
      patch: (body) => {
        const { data, ...rest } = body as { data: Record<string, unknown>[] };
        return { ...rest, data: data.map((row) => ({ ...row, value: 'many' })) };
      },
    },
    extensions: {
      code: 'UPSTREAM_INVALID_RESPONSE',
      retryable: false,
      route: '/v1/data',
      detail: expect.stringContaining('data[0].value'),
    },
    calls: 1,
  },
  UPSTREAM_INCOMPLETE: {
    // A service that heeds neither `limit` nor years, and cuts a single series.
    options: { sandbox: { extras: 'ignore', defaultRows: 50 } },
    query: '{ country(code: "KE") { observations(metricKeys: ["population_total"]) { value } } }',
    extensions: {
      code: 'UPSTREAM_INCOMPLETE',
      retryable: false,
      route: '/v1/data',
      received: 50,
      total: expect.any(Number),
    },
    calls: 2,
  },
  'OPERATION_TOO_EXPENSIVE by its calls': {
    options: { env: { MAX_UPSTREAM_CALLS: '10' } },
    query: '{ countries { profile { record } } }',
    extensions: { code: 'OPERATION_TOO_EXPENSIVE', retryable: false, planned: 55, limit: 10 },
    calls: 0,
    status: 400,
  },
  'OPERATION_TOO_EXPENSIVE by its depth': {
    options: { env: { MAX_DEPTH: '2' } },
    extensions: { code: 'OPERATION_TOO_EXPENSIVE', retryable: false, planned: 3, limit: 2 },
    calls: 0,
    status: 400,
  },
  'OPERATION_TOO_EXPENSIVE by its aliases': {
    options: { env: { MAX_ALIASES: '1' } },
    query: '{ a: __typename b: __typename }',
    extensions: { code: 'OPERATION_TOO_EXPENSIVE', retryable: false, planned: 2, limit: 1 },
    calls: 0,
    status: 400,
  },
  OPERATION_TIMEOUT: {
    options: {
      env: { OPERATION_TIMEOUT_MS: String(TIMEOUT_MS), UPSTREAM_TIMEOUT_MS: String(2 * TIMEOUT_MS) },
    },
    fault: { route: '/v1/data', kind: 'hang' },
    extensions: { code: 'OPERATION_TIMEOUT', retryable: true },
    calls: 1,
  },
  'GRAPHQL_PARSE_FAILED for more tokens than are taken': {
    options: { env: { MAX_TOKENS: '5' } },
    extensions: { code: 'GRAPHQL_PARSE_FAILED', retryable: false },
    calls: 0,
    status: 400,
  },
  'OPERATION_TOO_EXPENSIVE by its root fields': {
    options: { env: { MAX_ROOT_FIELDS: '1' } },
    query: '{ quota { plan } health { status } }',
    extensions: { code: 'OPERATION_TOO_EXPENSIVE', retryable: false, planned: 2, limit: 1 },
    calls: 0,
    status: 400,
  },
};

describe('over HTTP', () => {
  it.each(Object.entries(CASES))('an error over HTTP is worded and classed: %s', async (_, given) => {
    const { query = FIGURE, before = 0 } = given;
    await using program = await openProgram(given.options);
    const { sandbox } = program;
    const isTimed = /_TIMEOUT$/.test(String(given.extensions.code));
    const ask = (text: string, asking: Asking) =>
      isTimed
        ? askTimedOut(program, text, { ...asking, calls: given.calls, timeoutMs: TIMEOUT_MS })
        : program.ask(text, asking);
    const asking = given.asking?.(sandbox.keys) ?? {};
    for (let i = 0; i < before; i += 1) await ask(query, asking);
    sandbox.log.clear();
    if (given.fault !== undefined) sandbox.faults.set(given.fault);

    const reply = await ask(query, asking);
    expect(reply.errors).toHaveLength(1);
    expect(reply.errors[0]?.extensions).toMatchObject(given.extensions);
    expect(reply.status).toBe(given.status ?? 200);
    expect(reply.upstream.calls).toBe(given.calls);
    expect(sandbox.log).toHaveLength(given.calls);
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(reply.headers.get('vary')).toBe('Authorization');
    const namesTime = 'retryAt' in given.extensions || 'resetsAt' in given.extensions;
    if (namesTime) expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(JSON.stringify(reply)).not.toContain(asking.key ?? sandbox.keys.team);
    expect(program.problems).toEqual([]);

    const older = await ask(query, { ...asking, headers: { ...asking.headers, accept: 'application/json' } });
    expect(older.status).toBe(200);
    expect(older.errors[0]?.extensions.code).toBe(reply.errors[0]?.extensions.code);
  });
});

describe('a failure', () => {
  const opening = openProgram({ env: SHORT });
  beforeEach(async () => {
    const { sandbox } = await opening;
    sandbox.faults.clear();
    sandbox.log.clear();
  });
  afterAll(async () => (await opening)[Symbol.asyncDispose]());

  it('a failure takes no sibling with it', async () => {
    const { ask, sandbox } = await opening;
    sandbox.faults.set({ route: '/v1/countries/{code}/profile', kind: 'status', status: 403 });
    const reply = await ask(
      '{ country(code: "KE") { name profile { record } observation(metricKey: "population_total") { value } } health { status } }',
    );
    expect(reply.data).toEqual({
      country: { name: 'Kenya', profile: null, observation: { value: expect.any(Number) } },
      health: { status: 'ok' },
    });
    expect(reply.errors.map(({ path }) => path)).toEqual([['country', 'profile']]);
    expect(reply.status).toBe(200);
    expect(reply.upstream.calls).toBe(4);
  });

  it('a failure of one row fails the figures of its pair alone', async () => {
    const { ask, sandbox } = await opening;
    sandbox.faults.set({
      route: '/v1/data',
      kind: 'shape',
      patch: (body) => {
        const { data, ...rest } = body as { data: Record<string, unknown>[] };
        return { ...rest, data: data.map((row, i) => (i === 0 ? { ...row, year: 'x' } : row)) };
      },
    });
    const reply = await ask(
      '{ countries(codes: ["KE", "NG"]) { observation(metricKey: "population_total") { value } } }',
    );
    expect(reply.data.countries).toEqual([
      { observation: null },
      { observation: { value: expect.any(Number) } },
    ]);
    expect(reply.errors.map(({ extensions }) => extensions.detail)).toEqual([
      expect.stringContaining('year'),
    ]);
    expect(reply.upstream.calls).toBe(1);
  });

  it('a failure that passes is retried, and each attempt is billed', async () => {
    const { ask, sandbox } = await opening;
    sandbox.faults.set({ route: '/v1/data', times: 1, kind: 'status', status: 500 });
    const reply = await ask(FIGURE);
    expect(reply.errors).toEqual([]);
    expect(reply.upstream.byRoute).toEqual({ '/v1/data': 2 });
  });

  it('a failure does not lead the key astray: redirects are not followed', async () => {
    const visitors: (string | undefined)[] = [];
    const elsewhere = createServer((request, response) => {
      visitors.push(request.headers.authorization);
      response.end('{"data":[]}');
    }).listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    const { port } = elsewhere.address() as AddressInfo;
    const service = createServer((_, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end();
    }).listen(0, '127.0.0.1');
    await once(service, 'listening');
    const upstreamUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    await using program = await openProgram({ upstreamUrl });
    const reply = await program.ask(FIGURE);
    expect(reply.errors[0]?.extensions.code).toBe('UPSTREAM_INVALID_RESPONSE');
    expect(visitors).toEqual([]);
    service.close();
    elsewhere.close();
  });
});

describe('the table', () => {
  const enumValues = [...readFileSync('schema/errors.graphql', 'utf8').matchAll(/^ {2}([A-Z_]+)$/gm)].map(
    ([, name]) => name,
  );
  const paragraphs = [...readFileSync('docs/errors.md', 'utf8').matchAll(/^## `([A-Z_]+)`$/gm)].map(
    ([, name]) => name,
  );

  it.each(Object.keys(FAILURES))(
    'the error code %s is in the schema, in the documentation and in a test',
    (code) => {
      expect(enumValues).toContain(code);
      expect(paragraphs).toContain(code);
      const reached = Object.values(CASES).map(({ extensions }) => extensions.code);
      expect([...reached, ...ELSEWHERE]).toContain(code);
    },
  );

  it('docs/errors.md has these codes and those of warnings, and no other', () => {
    const codes: readonly string[] = [...Object.keys(FAILURES), ...WARNING_CODES];
    expect(paragraphs.toSorted()).toEqual(codes.toSorted());
  });
});
