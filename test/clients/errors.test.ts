import { buildSchema, GraphQLEnumType } from 'graphql';
import { describe, expect, it } from 'vitest';
import {
  codeOf,
  ErrorCode,
  errorsOf,
  isErrorCode,
  isRetryable,
  retryAtOf,
  untilRetry,
  type WarningCode,
} from '../../clients/client/src/index.ts';
import { identityOf } from '../../clients/client/src/keys.ts';
import { encodeId } from '../../src/graphql/resolvers/lists.ts';
import { WARNING_CODES } from '../../src/shared/warnings.ts';
import { openProgram } from '../support/program.ts';

const error = (code: string, extensions: object = {}) => ({
  message: 'No.',
  extensions: { code, retryable: code === 'RATE_LIMITED', requestId: 'r', ...extensions },
});

describe('errors of the graph are found in', () => {
  const one = error('FORBIDDEN');
  it.for<[string, unknown, number]>([
    ['an error', one, 1],
    ['a list', [one, one], 2],
    ['an answer', { data: null, errors: [one] }, 1],
    ['what Apollo Client throws', Object.assign(new Error('x'), { errors: [one] }), 1],
    [
      'what urql hands on',
      Object.assign(new Error('x'), { graphQLErrors: [one], networkError: undefined }),
      1,
    ],
    [
      'what graphql-request throws',
      Object.assign(new Error('x'), { response: { errors: [one], status: 200 } }),
      1,
    ],
    ['a cause', new Error('x', { cause: { errors: [one] } }), 1],
    ['a network that failed: none', new TypeError('Failed to fetch'), 0],
    ['an error of another graph: none', { message: 'No.', extensions: { code: 'SOMETHING_ELSE' } }, 0],
    [
      'an error of another graph, which has words for it: none',
      { message: 'No.', extensions: { retryable: 'yes' } },
      0,
    ],
    ['nothing: none', undefined, 0],
  ])('errors of the graph are found in %s', ([, failure, count]) => {
    expect(errorsOf(failure)).toHaveLength(count);
    expect(codeOf(failure)).toBe(count === 0 ? undefined : 'FORBIDDEN');
  });

  it('errors of the graph are found in an object that holds itself, and still end', () => {
    const loop: { cause?: unknown } = {};
    loop.cause = loop;
    expect(errorsOf(loop)).toEqual([]);
  });
});

it('an error with a code that is newer than the package is one of the graph, and says if it is worth asking again', () => {
  const newer = (retryable: boolean) => ({
    message: 'No.',
    extensions: { code: 'NEWER', retryable, requestId: 'r', retryAfterSeconds: 3 },
  });
  expect(codeOf(newer(true))).toBe('NEWER');
  expect(isErrorCode('NEWER')).toBe(false);
  expect([isRetryable(newer(true)), isRetryable(newer(false))]).toEqual([true, false]);
  expect(isRetryable([newer(true), error('FORBIDDEN')])).toBe(false);
  expect(retryAtOf(newer(true), 5_000)).toEqual(new Date(8_000));
});

it('an operation is worth asking again where all of its errors say so', () => {
  expect(isRetryable([error('RATE_LIMITED'), error('RATE_LIMITED')])).toBe(true);
  expect(isRetryable([error('RATE_LIMITED'), error('FORBIDDEN')])).toBe(false);
  expect(isRetryable(new TypeError('Failed to fetch'))).toBe(false);
});

it('the latest time that an error names is when to ask again', () => {
  const at = (retryAt: string) => error('RATE_LIMITED', { retryAt, retryAfterSeconds: 1 });
  expect(retryAtOf([at('2026-01-01T00:00:10Z'), at('2026-01-01T00:00:20Z')])).toEqual(
    new Date('2026-01-01T00:00:20Z'),
  );
  expect(retryAtOf(error('MONTHLY_QUOTA_EXCEEDED', { resetsAt: '2026-02-01T00:00:00Z' }))).toEqual(
    new Date('2026-02-01T00:00:00Z'),
  );
  expect(retryAtOf(error('OVERLOADED', { retryAfterSeconds: 2 }), 5_000)).toEqual(new Date(7_000));
  expect(retryAtOf(error('FORBIDDEN'))).toBeNull();
});

it('waiting to ask again ends at the time that an error names, or when it is given up', async () => {
  const retryAt = new Date(Date.now() + 80).toISOString();
  await untilRetry(error('RATE_LIMITED', { retryAt }));
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(retryAt));
  const leaving = new AbortController();
  const waiting = untilRetry(error('RATE_LIMITED', { retryAt: '2999-01-01T00:00:00Z' }), leaving);
  leaving.abort(new Error('left'));
  await expect(waiting).rejects.toThrow('left');
});

it('codes of errors are those of the schema', async () => {
  await using program = await openProgram();
  const sdl = await (await fetch(new URL('/schema.graphql', program.url))).text();
  const type = buildSchema(sdl, { assumeValidSDL: true }).getType('ErrorCode');
  const names = type instanceof GraphQLEnumType ? type.getValues().map(({ name }) => name) : [];
  expect(Object.values(ErrorCode).toSorted()).toEqual(names.toSorted());
  expect(names.every(isErrorCode)).toBe(true);
  const reply = await program.ask(
    '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }',
    {
      key: null,
    },
  );
  expect(codeOf(reply)).toBe(ErrorCode.UNAUTHENTICATED);
  expect(reply.upstream.calls).toBe(0);
});

it('codes of warnings are those of the program', () => {
  const known: Record<WarningCode, true> = {
    UNKNOWN_INDICATOR: true,
    UNKNOWN_COUNTRY: true,
    ROWS_LEFT_OUT: true,
    NOT_COMPARABLE: true,
    UNREADABLE_PERIOD: true,
    UNREADABLE_TIME: true,
    SEVERAL_FIGURES: true,
    REVISED_SINCE: true,
    SUBSCRIPTION_PAUSED: true,
  };
  expect(Object.keys(known).toSorted()).toEqual(WARNING_CODES.toSorted());
});

it('objects are named in caches as the graph names them', () => {
  expect(identityOf('Country', { code: 'KE' })).toBe(encodeId('Country', 'KE'));
  expect(identityOf('Country', { code: 'KE', id: 'x' })).toBe('x');
  expect(identityOf('Indicator', { key: 'çé' })).toBe(encodeId('Indicator', 'çé'));
  expect(identityOf('Ticker', { exchangeCode: 'NSE', symbol: 'SCOM' })).toBe(
    encodeId('Ticker', 'NSE', 'SCOM'),
  );
  expect(identityOf('Ticker', { symbol: 'SCOM' })).toBeNull();
  expect(identityOf('Observation', { value: 1 })).toBeNull();
});
