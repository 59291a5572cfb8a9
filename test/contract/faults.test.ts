import { describe, expect, it } from 'vitest';
import type { FaultKind } from '../../src/sandbox/faults.ts';
import { systemClock } from '../../src/shared/async/clock.ts';
import { openProgram } from '../support/program.ts';
import { askTimedOut } from '../support/timed-out.ts';

/** An operation for each route, whose failing field is the one that its fault concerns. */
const OPERATIONS = {
  '/v1/data': '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }',
  '/v1/countries': '{ countries { name } }',
  '/v1/indicators': '{ indicators { key } }',
  '/v1/platform/etl-status': '{ sources { key } }',
  '/v1/markets/tickers': '{ tickers { symbol } }',
  '/v1/countries/{code}/profile': '{ country(code: "KE") { profile { record } } }',
  '/v1/countries/{code}/signals': '{ country(code: "KE") { signals { record } } }',
  '/v1/government/structure/{code}': '{ country(code: "KE") { offices { name } } }',
  '/health': '{ health { status } }',
  '/v1/platform/version': '{ platformVersion { version } }',
};

const TIMEOUT_MS = 1_000;

interface Expected {
  readonly code: string;
  readonly retryable: boolean;
  readonly attempts?: number;
  readonly detail?: string;
}

const FAULTS: Record<string, { fault: FaultKind; expected: Expected; calls: number }> = {
  'a 500 with a page of text': {
    fault: { kind: 'status', status: 500, body: 'Internal Server Error' },
    expected: { code: 'UPSTREAM_UNAVAILABLE', retryable: true, attempts: 2 },
    calls: 2,
  },
  'a 503 with words': {
    fault: { kind: 'status', status: 503, body: { detail: 'under repair' } },
    expected: { code: 'UPSTREAM_UNAVAILABLE', retryable: true, attempts: 2, detail: 'under repair' },
    calls: 2,
  },
  'a reset': {
    fault: { kind: 'reset' },
    expected: { code: 'UPSTREAM_UNAVAILABLE', retryable: true, attempts: 2 },
    calls: 2,
  },
  'half a body': {
    fault: { kind: 'cut' },
    expected: { code: 'UPSTREAM_UNAVAILABLE', retryable: true, attempts: 2 },
    calls: 2,
  },
  'no answer': {
    fault: { kind: 'hang' },
    expected: { code: 'UPSTREAM_TIMEOUT', retryable: true, attempts: 1 },
    calls: 1,
  },
  'a body that drips': {
    fault: { kind: 'drip', ms: 100, bytes: 1 },
    expected: { code: 'UPSTREAM_TIMEOUT', retryable: true, attempts: 1 },
    calls: 1,
  },
  'a page of HTML': {
    fault: { kind: 'garbage' },
    expected: { code: 'UPSTREAM_INVALID_RESPONSE', retryable: false, detail: 'the body is not JSON' },
    calls: 1,
  },
  'a teapot': {
    fault: { kind: 'status', status: 418 },
    expected: { code: 'UPSTREAM_INVALID_RESPONSE', retryable: false, detail: 'fault: status 418' },
    calls: 1,
  },
  'a 403': {
    fault: { kind: 'status', status: 403, body: { detail: 'not in your plan' } },
    expected: { code: 'FORBIDDEN', retryable: false, detail: 'not in your plan' },
    calls: 1,
  },
};

describe.each(Object.entries(FAULTS))('%s', (_, { fault, expected, calls }) => {
  const isTimed = expected.code === 'UPSTREAM_TIMEOUT';
  it.each(Object.entries(OPERATIONS))(
    'a fault of the service comes as its error, on %s',
    async (route, query) => {
      let aheadMs = 0;
      await using program = await openProgram({
        clock: { now: () => Date.now() + aheadMs, sleep: systemClock.sleep },
        env: { UPSTREAM_RETRIES: '1', UPSTREAM_TIMEOUT_MS: String(TIMEOUT_MS) },
      });
      const { ask, sandbox } = program;
      const clear = sandbox.faults.set({ ...fault, route });
      const operation = `query { failing: __typename ${query.slice(1)}`;
      const reply = isTimed
        ? await askTimedOut(program, operation, { calls, timeoutMs: TIMEOUT_MS })
        : await ask(operation);
      expect(reply.errors.map(({ extensions }) => extensions)).toEqual([{ ...expected, route }]);
      expect(reply.data.failing).toBe('Query');
      expect(reply.status).toBe(200);
      expect(reply.upstream).toMatchObject({ calls, byRoute: { [route]: calls } });
      expect(sandbox.log.map((request) => request.route)).toEqual(Array(calls).fill(route));
      expect(program.problems).toEqual([]);

      if (isTimed) return;
      // A failure is never held: the next operation asks anew, and is answered.
      clear();
      // A refusal of the key is remembered for a second.
      if (expected.code === 'FORBIDDEN') aheadMs += 1_000;
      const after = await ask(query);
      expect(after.errors).toEqual([]);
      expect(after.upstream.byRoute[route]).toBeGreaterThan(0);
    },
  );
});
