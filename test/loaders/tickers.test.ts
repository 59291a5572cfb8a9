import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTickerLoader } from '../../src/observations/loaders/listings.ts';
import type { Ask } from '../../src/service/cached-lists.ts';
import { type Call, makeCall } from '../../src/service/call.ts';
import { Failure } from '../../src/shared/errors.ts';
import { sendingFor } from '../service/sending.ts';
import { draws } from '../support/draws.ts';

/** Answers of a service on points that the specification of `/v1/markets/tickers` leaves open. */
interface Habits {
  readonly limit: 'heed' | 'ignore' | 'refuse';
  readonly filters: 'heed' | 'ignore' | 'refuse' | 'refuse unknown';
  /** True if kinds of listings are told apart by case. */
  readonly isCaseHeeded: boolean;
  /** Meaning of `meta.total`: all matching rows, those sent, or it is not there. */
  readonly total: 'true' | 'capped' | 'none';
  readonly tellsLimit: boolean;
}

/** The service as it has been seen. */
const SEEN: Habits = {
  limit: 'heed',
  filters: 'heed',
  isCaseHeeded: false,
  total: 'none',
  tellsLimit: false,
};

interface Row {
  readonly exchange_code: string;
  readonly symbol: string;
  readonly country_code: string | null;
  readonly instrument_type: string | null;
}

const KINDS = ['EQUITY', 'BOND', null];

/** Listings on exchanges of so many each; those of the second half have two countries, and some have none. */
function listingsOf(...sizes: readonly number[]): Row[] {
  return sizes.flatMap((size, at) =>
    Array.from({ length: size }, (_, i) => ({
      exchange_code: `X${at}`,
      symbol: `S${i}`,
      country_code: i % 7 === 3 ? null : i * 2 < size ? 'ke' : 'ug',
      instrument_type: KINDS[i % KINDS.length] ?? null,
    })),
  );
}

const EXCHANGE = 'exchange_code';

/** The service's answers to calls for listings, and a loader over them with a memory of its own. */
function open(rows: readonly Row[], habits: Partial<Habits> = {}) {
  const { limit, filters, isCaseHeeded, total, tellsLimit } = { ...SEEN, ...habits };
  const targets: string[] = [];
  const refuse = () => {
    throw new Failure('BAD_USER_INPUT', 'The service refused the arguments.');
  };
  function answer(call: Call): unknown {
    targets.push(call.target);
    const query = Object.fromEntries(new URL(call.target, 'http://service').searchParams);
    const { limit: asked, ...asFilter } = query;
    if (asked !== undefined && (limit === 'refuse' || Number(asked) > 500)) refuse();
    if (Object.keys(asFilter).length > 0 && filters === 'refuse') refuse();
    const applied = limit === 'heed' && asked !== undefined ? Number(asked) : 100;
    const isSame = (a: string | null, b: string, name: string) =>
      name === 'instrument_type' && isCaseHeeded ? a === b : a?.toLowerCase() === b.toLowerCase();
    const matching = rows.filter(
      (row) =>
        filters === 'ignore' ||
        Object.entries(asFilter).every(([name, value]) => isSame(row[name as keyof Row], value, name)),
    );
    const isUnknown = Object.keys(asFilter).length > 0 && matching.length === 0;
    if (filters === 'refuse unknown' && isUnknown) refuse();
    const data = matching.slice(0, applied);
    const meta = {
      ...(total === 'none' ? {} : { total: total === 'true' ? matching.length : data.length }),
      ...(tellsLimit ? { limit: applied } : {}),
    };
    return { data, meta };
  }
  const ask = (async (endpoint, params) =>
    endpoint.decode(answer(makeCall(endpoint, params)), params, 0)) as Ask;
  const learned = { needsLimit: false };
  return { targets, operation: () => createTickerLoader(ask, sendingFor(), learned) };
}

type TickerFilter = Parameters<ReturnType<typeof createTickerLoader>['where']>[0];

const expected = (rows: readonly Row[], { exchangeCode, countryCode, instrumentType }: TickerFilter) =>
  rows.filter(
    (row) =>
      (exchangeCode == null || row.exchange_code === exchangeCode) &&
      (countryCode == null || row.country_code === countryCode.toLowerCase()) &&
      (instrumentType == null || row.instrument_type === instrumentType.toUpperCase()),
  );

const failureOf = (error: unknown) => {
  if (!(error instanceof Failure)) throw error;
  return { code: error.code, ...error.fields };
};

const PATH = '/v1/markets/tickers';

describe('a list that is cut at the default', () => {
  const rows = listingsOf(189, 40, 30);

  it('a list that is cut at the default is an error where nothing shows that the rest of an exchange has come', async () => {
    const { operation, targets } = open(rows, { limit: 'ignore' });
    const loader = operation();
    const failure = await loader.where({ exchangeCode: 'X0' }).catch(failureOf);
    expect(failure).toEqual({ code: 'UPSTREAM_INCOMPLETE', route: PATH, received: 100, total: null });
    expect(targets).toEqual([PATH, `${PATH}?limit=500`, `${PATH}?limit=1`, `${PATH}?${EXCHANGE}=X0`]);
    // Finds rows that came; of all others the error stays, for they may be there.
    expect((await loader.find('x0', 's99'))?.record).toEqual(rows[99]);
    expect(await loader.find('X0', 'S150').catch(failureOf)).toEqual(failure);
    expect(await loader.find('X0', 'none').catch(failureOf)).toEqual(failure);
    expect(targets).toHaveLength(4);
  });

  it('a list that is cut at the default is completed by a filter that is heeded and leaves less than a page', async () => {
    const { operation, targets } = open(rows, { limit: 'ignore' });
    const loader = operation();
    const found = await loader.where({ exchangeCode: 'X1', instrumentType: 'EQUITY' });
    expect(found.map(({ record }) => record)).toEqual(
      expected(rows, { exchangeCode: 'X1', instrumentType: 'EQUITY' }),
    );
    expect(targets).toHaveLength(4);
    expect(await loader.find('X1', 'none')).toBeNull();
    expect(targets).toHaveLength(4);
  });

  it('a list that is cut at the default is completed by two filters where one leaves too much', async () => {
    const { operation, targets } = open(rows, { limit: 'ignore' });
    const filter = { exchangeCode: 'X0', countryCode: 'UG' };
    const found = await operation().where(filter);
    expect(found.map(({ record }) => record)).toEqual(expected(rows, filter));
    expect(targets.slice(3)).toEqual([
      `${PATH}?country_code=UG`,
      `${PATH}?${EXCHANGE}=X0`,
      `${PATH}?country_code=UG&${EXCHANGE}=X0`,
    ]);
  });

  it('a list that is cut at the default is not asked for twice where `limit` is refused', async () => {
    const { operation, targets } = open(rows, { limit: 'refuse', filters: 'refuse' });
    const failure = await operation().where({ exchangeCode: 'X0' }).catch(failureOf);
    expect(failure).toMatchObject({ code: 'UPSTREAM_INCOMPLETE', received: 100, total: null });
    expect(targets).toEqual([PATH, `${PATH}?limit=500`, `${PATH}?${EXCHANGE}=X0`]);
  });

  it('a list that is cut at the default is completed by a filter of which the service has refused a value that it does not know', async () => {
    const { operation, targets } = open(rows, { limit: 'ignore', filters: 'refuse unknown' });
    const loader = operation();
    expect(await loader.find('X9', 'S0').catch(failureOf)).toMatchObject({ code: 'UPSTREAM_INCOMPLETE' });
    expect(await loader.where({ exchangeCode: 'X1' })).toHaveLength(40);
    expect(targets.slice(3)).toEqual([`${PATH}?${EXCHANGE}=X9`, `${PATH}?${EXCHANGE}=X1`]);
  });
});

describe('a list of exactly a default page', () => {
  const rows = listingsOf(60, 40);

  it('a list of exactly a default page is whole where a probe shows that `limit` is heeded', async () => {
    const { operation, targets } = open(rows);
    expect(await operation().where({})).toHaveLength(100);
    expect(targets).toEqual([PATH, `${PATH}?limit=500`, `${PATH}?limit=1`]);
  });

  it('a list of exactly a default page is whole where the service says that a higher limit was applied', async () => {
    const { operation, targets } = open(rows, { tellsLimit: true });
    expect(await operation().where({})).toHaveLength(100);
    expect(targets).toHaveLength(2);
  });

  it('a list of exactly a default page is whole where the service counts as many', async () => {
    const { operation, targets } = open(rows, { limit: 'ignore', total: 'true' });
    expect(await operation().where({})).toHaveLength(100);
    expect(targets).toHaveLength(2);
  });

  it('a list of exactly a default page is looked into below a filter too', async () => {
    const { operation, targets } = open(listingsOf(100, 500), { limit: 'ignore' });
    const failure = await operation().where({ exchangeCode: 'X0' }).catch(failureOf);
    expect(failure).toMatchObject({ code: 'UPSTREAM_INCOMPLETE', received: 100, total: null });
    expect(targets).toHaveLength(4);
  });

  it('a list of exactly a default page is whole below a filter where the longer list has shown that `limit` is heeded', async () => {
    const { operation, targets } = open(listingsOf(100, 500));
    expect(await operation().where({ exchangeCode: 'X0' })).toHaveLength(100);
    expect(targets).toEqual([PATH, `${PATH}?limit=500`, `${PATH}?${EXCHANGE}=X0&limit=500`]);
  });
});

it('whatever a service does, a list is right or said to be incomplete', async () => {
  const habits = fc.record({
    limit: fc.constantFrom('heed', 'ignore', 'refuse'),
    filters: fc.constantFrom('heed', 'ignore', 'refuse', 'refuse unknown'),
    isCaseHeeded: fc.boolean(),
    total: fc.constantFrom('true', 'capped', 'none'),
    tellsLimit: fc.boolean(),
  } as const);
  const size = fc.oneof(fc.integer({ min: 0, max: 220 }), fc.constantFrom(99, 100, 101, 499, 500, 501));
  const filter = fc.record({
    exchangeCode: fc.constantFrom(null, 'X0', 'X1', 'X9'),
    countryCode: fc.constantFrom(null, 'KE', 'UG', 'SS'),
    instrumentType: fc.constantFrom(null, 'EQUITY', 'equity', 'BOND', 'Index'),
  });
  const sought = fc.record({
    exchangeCode: fc.constantFrom('X0', 'X1', 'X9'),
    at: fc.integer({ min: 0, max: 520 }),
  });
  const asked = fc.array(fc.oneof(filter, sought), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(
      habits,
      fc.array(size, { maxLength: 4 }),
      fc.boolean(),
      asked,
      async (habit, sizes, isMixed, questions) => {
        // Leaves out totals of the rows sent, without another call that brings more: nothing tells them from
        // totals of all rows.
        fc.pre(habit.total !== 'capped' || habit.limit === 'heed');
        const rows = listingsOf(...sizes);
        if (isMixed) rows.sort((a, b) => a.symbol.localeCompare(b.symbol));
        const { operation, targets } = open(rows, habit);
        for (const question of questions) {
          targets.length = 0;
          const loader = operation();
          const key = 'at' in question ? `S${question.at}` : null;
          const truth = expected(rows, question as TickerFilter).filter(
            ({ symbol }) => key === null || symbol === key,
          );
          const told = await (key === null
            ? loader.where(question as TickerFilter)
            : loader.find(question.exchangeCode as string, key).then((row) => (row === null ? [] : [row]))
          ).catch(failureOf);
          if (Array.isArray(told)) {
            expect(new Set(told.map(({ record }) => record))).toEqual(new Set(truth));
            expect(told).toHaveLength(truth.length);
          } else {
            expect(told).toMatchObject({ code: 'UPSTREAM_INCOMPLETE', route: PATH });
            // Gets all that can be had.
            expect(rows.length).toBeGreaterThanOrEqual(habit.limit === 'heed' ? 500 : 100);
          }
          expect(targets.length).toBeLessThanOrEqual(15);
          expect(new Set(targets).size).toBe(targets.length);
        }
      },
    ),
    { numRuns: draws(400) },
  );
});
