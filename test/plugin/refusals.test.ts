import { expect, it } from 'vitest';
import { definePlugin, Failure } from '../../src/plugin/index.ts';
import { movingClock } from '../support/moving-clock.ts';
import { openProgram } from '../support/program.ts';

const NOW = Date.parse('2026-03-10T12:00:30Z');
const LATER = { resetsAt: '2026-03-10T12:02:00.000Z' };

type Refused = readonly [
  code: Failure['code'],
  fields: Failure['fields'],
  status: number,
  retryAfter: string | null,
];

const REFUSALS: readonly Refused[] = [
  ['UNAUTHENTICATED', {}, 401, null],
  ['FORBIDDEN', {}, 403, null],
  ['BAD_USER_INPUT', {}, 400, null],
  ['RATE_LIMITED', { retryAfterSeconds: 30 }, 429, '30'],
  ['MONTHLY_QUOTA_EXCEEDED', LATER, 429, '90'],
  ['KEY_BUDGET_SPENT', LATER, 429, '90'],
  ['NOT_HELD', {}, 404, null],
  ['UPSTREAM_TIMEOUT', { attempts: 1 }, 504, null],
];

/** Refuses keys and requests that name a code. */
const refusing = definePlugin({
  name: 'refusing',
  settings: {},
  open() {
    const failureOf = (named: string) => {
      const [code, fields] = REFUSALS.find(([one]) => one === named) ?? [
        'OVERLOADED',
        { retryAfterSeconds: 2 },
      ];
      return new Failure(code, 'This is refused.', fields);
    };
    const OWN = 'Bearer own_';
    return {
      keys: () => ({
        owns: (authorization) => authorization.startsWith(OWN),
        exchange({ headers }) {
          throw failureOf(headers.authorization?.slice(OWN.length) ?? '');
        },
      }),
      request:
        (next, { refusal }) =>
        (request) => {
          const code = request.headers['x-refused'];
          return code === undefined ? next(request) : refusal(failureOf(code), request);
        },
    };
  },
});

const MODERN = 'application/graphql-response+json';

it.each<[string, string, boolean]>([
  [MODERN, MODERN, true],
  [`${MODERN}, application/json;q=0.9`, MODERN, true],
  [`${MODERN};q=0.1, application/json`, 'application/json', false],
  ['*/*', 'application/json', false],
])(
  'what a plugin refuses, by its keys or by its stages, has the status and the wait that clients of %s read, at no call',
  async (accept, type, isRead) => {
    await using program = await openProgram({ clock: movingClock(NOW).clock, shipped: [refusing] });
    const send = (headers: Record<string, string>) =>
      fetch(program.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept, ...headers },
        body: JSON.stringify({ query: '{ sources { key } }' }),
      });
    const all: readonly Refused[] = [...REFUSALS, ['OVERLOADED', { retryAfterSeconds: 2 }, 503, '2']];
    for (const [code, fields, status, retryAfter] of all) {
      const shown = isRead || code === 'OVERLOADED' ? status : 200;
      for (const headers of [{ authorization: `Bearer own_${code}` }, { 'x-refused': code }]) {
        const refused = await send(headers as Record<string, string>);
        const { errors, data, extensions } = await refused.json();
        expect([code, refused.status, refused.headers.get('content-type')]).toEqual([
          code,
          shown,
          `${type}; charset=utf-8`,
        ]);
        expect(refused.headers.get('retry-after')).toBe(retryAfter);
        expect(refused.headers.get('www-authenticate')).toBe(shown === 401 ? 'Bearer' : null);
        expect(refused.headers.get('cache-control')).toBe('no-store');
        expect(errors).toMatchObject([{ message: 'This is refused.', extensions: { code, ...fields } }]);
        expect([data, extensions.upstream.calls]).toEqual([undefined, 0]);
      }
    }
    expect(program.requests()).toEqual([]);
  },
);
