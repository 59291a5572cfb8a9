import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { FiguresParts } from '../../src/observations/client.ts';
import { createDataFetch } from '../../src/observations/client.ts';
import type { FetchListener, Outcome } from '../../src/observations/fetch.ts';
import { cover, expectedRows } from '../../src/observations/planner/cover.ts';
import {
  covers,
  type Demand,
  demandFor,
  demandKey,
  isWithin,
  keyOfPair,
  type YearRange,
} from '../../src/observations/planner/demand.ts';
import { createLearned, DEFAULT_MAX_ROWS } from '../../src/observations/planner/learned.ts';
import { createRefusedNames } from '../../src/observations/refused-names.ts';
import type { ObservationRecord } from '../../src/service/records/observations.ts';
import { Failure } from '../../src/shared/errors.ts';
import { sendingFor } from '../service/sending.ts';
import { draws } from '../support/draws.ts';
import { tenantOf } from '../support/tenants.ts';
import {
  codeAt,
  createDataRoute,
  demandsFor,
  type Habits,
  isOf,
  keyAt,
  newestIn,
  type Row,
  SEEN,
  type Table,
  tableOf,
} from './data-route.ts';
import { partsWith } from './parts.ts';

/** A gateway's memory and a service, which several fetches share. */
function open(table: Table, habits: Partial<Habits> = {}, { overfetchRows = 500, codesPerCall = 250 } = {}) {
  const service: Habits = { ...SEEN, ...habits };
  const route = createDataRoute(table, service);
  const learned = createLearned();
  const refusedNames = createRefusedNames(() => 0, 300_000);
  const kept = new Map<string, { demand: Demand; rows: readonly ObservationRecord[] }>();
  const keep: FiguresParts['cache']['save'] = (_partition, { mode, years }, figures) => {
    for (const { pair, rows } of figures) {
      const demand = demandFor(mode, pair.countryCode, pair.metricKey, undefined, years);
      kept.set(demand.key, { demand, rows: rowsWithin(demand, rows) });
    }
  };
  /** The pairs of each answer to a whole series that has just as many rows as one may have, and its total no more. */
  const full = new Set<string>();
  const send: typeof route.send = async (call, sending) => {
    const answer = await route.send(call, sending);
    const { data = [], meta } = answer.body as {
      data?: { country_code: string; metric_key: string }[];
      meta?: { total?: number };
    };
    if (data.length === service.maxRows && meta?.total === data.length && !/_year=/.test(call.target))
      full.add([...new Set(data.map((row) => `${row.country_code} ${row.metric_key}`))].sort().join());
    return answer;
  };
  const parts = partsWith({ send, learned, refusedNames, codesPerCall, overfetchRows, save: keep });
  const fetchData = createDataFetch(parts);
  return {
    learned,
    /** Held rows of the answers. */
    kept,
    /** Outcome of each demand, in the order of settling, and the calls that it took. */
    async fetch(demands: readonly Demand[], late: readonly Demand[] = []) {
      route.targets.length = 0;
      const settled: { key: string; outcome: Outcome }[] = [];
      const settle = (demand: Demand, outcome: Outcome) => settled.push({ key: demand.key, outcome });
      const open: Demand[] = [];
      // Names that were refused are not asked for again, as in `cached.ts`.
      for (const demand of demands) {
        const refused = refusedNames.of(tenantOf('one'), demand);
        if (refused === undefined) open.push(demand);
        else settle(demand, refused.outcome);
      }
      const taken: Demand[] = [];
      const onOutcomes: FetchListener['onOutcomes'] = (told, came) => {
        for (const [i, outcome] of came.entries()) settle(told[i] as Demand, outcome);
      };
      const onCall: FetchListener['onCall'] = (takeAlong) => {
        const offer = (some: readonly Demand[]) =>
          taken.push(...some.filter((demand) => !taken.includes(demand) && takeAlong(demand)));
        offer(late.slice(late.length / 2));
        // The call has left by then.
        queueMicrotask(() => offer(late));
      };
      await fetchData(open, sendingFor(), { onOutcomes, onCall });
      const outcomes = new Map(settled.map(({ key, outcome }) => [key, outcome]));
      return {
        settled,
        taken,
        targets: [...route.targets],
        fullAnswers: full.size,
        outcomeOf: (demand: Demand) => outcomes.get(demand.key),
        /** Values of a demand, in the order of the years; an error stands for itself. */
        valuesOf: (demand: Demand) => valuesIn(outcomes.get(demand.key)),
      };
    },
  };
}

function valuesIn(outcome: Outcome | undefined) {
  if (outcome === undefined || outcome instanceof Error) return outcome;
  return outcome.map(({ value }) => value).sort((a, b) => a - b);
}

/** Rows of the years that a demand is for: others may come with them. */
function rowsWithin<Dated extends { readonly year: number }>({ years }: Demand, rows: readonly Dated[]) {
  return years === null ? rows : rows.filter(({ year }) => isWithin(years, year));
}

/** The only right answer to a demand. */
function rightAnswer({ rows }: Table, demand: Demand): number[] {
  const own = rowsWithin(
    demand,
    rows.filter(isOf(demand)).filter(({ value }) => value !== null),
  );
  const newest = newestIn(own);
  const right = demand.mode === 'series' ? own : newest === undefined ? [] : [newest];
  return right.map(({ value }) => value as number).sort((a, b) => a - b);
}

interface Scene {
  readonly table: Table;
  readonly habits: Habits;
  readonly demands: readonly Demand[];
  readonly overfetchRows: number;
  readonly codesPerCall: number;
}

const COUNTRIES = 5;
const METRICS = 4;

/** Rows of each pair: runs of years with holes, some of them with a row for a place or with nothing else. */
function tables(mostYears: number): fc.Arbitrary<Table> {
  const series = fc.record({
    years: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: mostYears })),
    from: fc.integer({ min: 1950, max: 2000 }),
    step: fc.constantFrom(1, 1, 2),
    places: fc.constantFrom('none', 'none', 'some', 'last'),
    blanks: fc.constantFrom('none', 'none', 'some', 'last'),
  });
  return fc
    .record({
      countries: fc.integer({ min: 1, max: COUNTRIES }),
      metrics: fc.integer({ min: 1, max: METRICS }),
      all: fc.array(series, { minLength: COUNTRIES * METRICS, maxLength: COUNTRIES * METRICS }),
    })
    .map(({ countries, metrics, all }) => {
      const rows: Row[] = [];
      const { countryCodes, metricKeys } = tableOf(countries, metrics, () => 0);
      for (const [c, countryCode] of countryCodes.entries()) {
        for (const [m, metricKey] of metricKeys.entries()) {
          const { years, from, step, places, blanks } = all[c * METRICS + m] as (typeof all)[number];
          for (let n = 0; n < years; n++) {
            const row = { countryCode, metricKey, year: from + n * step };
            const isPlaceOnly = places === 'last' && n === years - 1;
            const isBlank = (blanks === 'some' && n % 4 === 1) || (blanks === 'last' && n >= years - 2);
            const value = () => (isBlank ? null : rows.length);
            if (!isPlaceOnly) rows.push({ ...row, locationName: null, value: value() });
            if (isPlaceOnly || (places === 'some' && n % 3 === 0)) {
              rows.push({ ...row, locationName: 'Coast', value: value() });
            }
          }
        }
      }
      return { countryCodes, metricKeys, rows };
    });
}

/**
 * Any service that can be seen through: one that neither counts its rows nor tells its limit is taken to end
 * at the same number as the real one.
 */
const anyHabits: fc.Arbitrary<Habits> = fc
  .record({
    order: fc.constantFrom('pair', 'source', 'year', 'year-descending', 'shuffled'),
    defaultRows: fc.integer({ min: 5, max: 40 }),
    further: fc.nat({ max: 60 }),
    limit: fc.constantFrom('honour', 'honour', 'ignore', 'refuse'),
    overLimit: fc.constantFrom('lower', 'refuse'),
    total: fc.constantFrom('true', 'true', 'capped', 'none'),
    tellsLimit: fc.boolean(),
    years: fc.constantFrom('honour', 'exclude', 'exclude both', 'year after', 'ignore', 'refuse'),
    unknown: fc.constantFrom('empty', 'name', 'refuse'),
    unknownStatus: fc.constantFrom(404, 422),
    nothing: fc.constantFrom('empty', 'empty', 'not found'),
    folds: fc.boolean(),
  } as const)
  .map(({ further, ...habits }) => {
    const isPlain = habits.total === 'true' || habits.tellsLimit;
    const defaultRows = isPlain ? habits.defaultRows : 100;
    const overLimit = isPlain || habits.overLimit !== 'lower' ? habits.overLimit : 'refuse';
    return { ...habits, overLimit, defaultRows, maxRows: defaultRows + further };
  });

/** Services that count truly, heed their parameters, and know every name. */
const countingHabits = anyHabits.map(
  (habits): Habits => ({
    ...habits,
    order: 'pair',
    limit: 'honour',
    total: 'true',
    years: 'honour',
    unknown: 'empty',
    nothing: 'empty',
  }),
);

const rangesOfYears: readonly YearRange[] = [
  { from: 1990, to: 2005 },
  { from: 1995, to: null },
  { from: null, to: 1985 },
  { from: 2030, to: 2040 },
];

function scenes(habits: fc.Arbitrary<Habits>, { unknownNames = 0 } = {}): fc.Arbitrary<Scene> {
  return habits.chain((habits) =>
    tables(habits.defaultRows * 2).chain((table) => {
      const { countryCodes, metricKeys } = table;
      const strangers = Array.from({ length: unknownNames }, (_, index) => index);
      const demand = fc
        .record({
          mode: fc.constantFrom('latest' as const, 'series' as const),
          countryCode: fc.constantFrom(...countryCodes, ...strangers.map((n) => codeAt(600 + n))),
          metricKey: fc.constantFrom(...metricKeys, ...strangers.map((n) => keyAt(900 + n))),
          years: fc.option(fc.constantFrom(...rangesOfYears)),
        })
        .map(({ mode, countryCode, metricKey, years }) =>
          demandFor(mode, countryCode, metricKey, undefined, mode === 'series' ? years : null),
        );
      return fc
        .record({
          table: fc.constant(table),
          habits: fc.constant(habits),
          demands: fc
            .array(demand, { minLength: 1, maxLength: 30 })
            .map((all) => [...new Map(all.map((one) => [one.key, one])).values()]),
          overfetchRows: fc.constantFrom(0, 20, 500),
          codesPerCall: fc.constantFrom(1, 2, 250),
        })
        .map((scene) => ({ ...scene, [fc.toStringMethod]: () => described(scene) }));
    }),
  );
}

/** A scene in a few lines, for when a property fails. */
function described({ table, demands, ...rest }: Scene): string {
  const lengths = Map.groupBy(table.rows, ({ countryCode, metricKey }) => `${countryCode} ${metricKey}`);
  return [
    JSON.stringify(rest),
    `rows: ${[...lengths].map(([pair, rows]) => `${pair} ${rows.length}`).join(', ')}`,
    `demands: ${demands.map(({ key }) => key).join(', ')}`,
  ].join('\n');
}

/** Rows that one call can bring at the most. */
function limitOf({ limit, overLimit, maxRows, defaultRows }: Habits): number {
  return limit === 'honour' && overLimit !== 'refuse-silently' ? maxRows : defaultRows;
}

/**
 * True if a series can be out of reach: it takes a whole call or more, and ranges of years don't split it, or
 * come in no order, so that halving them may mislead.
 */
function mayBeLost({ table, habits }: Scene, demand: Demand): boolean {
  const rows = table.rows.filter(isOf(demand)).length;
  const newest = newestIn(table.rows.filter(isOf(demand)));
  // The latest figure of a pair whose latest row has no value stands in the series.
  if (demand.mode === 'latest' && newest?.value !== null) return false;
  return rows >= limitOf(habits) && (habits.years !== 'honour' || habits.order === 'shuffled' || isOneYear());

  /** A year that fills a call can't be split. */
  function isOneYear(): boolean {
    return habits.total !== 'true';
  }
}

const isKnown = ({ countryCodes, metricKeys }: Table, { countryCode, metricKey }: Demand) =>
  countryCodes.includes(countryCode) && metricKeys.includes(metricKey);

/** True if the years of one demand lie in those of another for the same pair. */
function isPartOf({ years, ...one }: Demand, { years: others, ...other }: Demand): boolean {
  return years !== null && others !== null && keyOfPair(one) === keyOfPair(other) && covers(others, years);
}

function expectRight(scene: Scene, demand: Demand, outcome: Outcome | undefined) {
  if (outcome instanceof Failure && outcome.code === 'UPSTREAM_INCOMPLETE' && mayBeLost(scene, demand))
    return;
  const { unknown, unknownStatus } = scene.habits;
  if (!isKnown(scene.table, demand) && unknown !== 'empty' && unknownStatus === 422) {
    expect(outcome).toMatchObject({ code: 'BAD_USER_INPUT' });
    return;
  }
  const isAnswered = outcome !== undefined && !(outcome instanceof Error);
  const rows = isAnswered ? rowsWithin(demand, outcome) : outcome;
  expect(valuesIn(rows)).toEqual(rightAnswer(scene.table, demand));
}

describe('whatever the service does where its specification is silent', () => {
  test('whatever the service does where its specification is silent, each demand is settled once, with exactly its rows', () =>
    fc.assert(
      fc.asyncProperty(scenes(anyHabits, { unknownNames: 2 }), async (scene) => {
        const { table, habits, demands } = scene;
        const { kept, fetch } = open(table, habits, scene);
        const { settled, outcomeOf } = await fetch(demands);
        const asked = new Set(demands.map(({ key }) => key));
        const keys = settled.map(({ key }) => key).filter((key) => asked.has(key));
        expect(keys.toSorted()).toEqual([...asked].sort());
        for (const demand of demands) expectRight(scene, demand, outcomeOf(demand));
        // Compares all that is held for later, wanted or not, with the service's own rows.
        for (const { demand, rows } of kept.values()) {
          expect(valuesIn(rows)).toEqual(rightAnswer(table, demand));
        }
        const fetched = demands.filter(
          (demand) => isKnown(table, demand) && !(outcomeOf(demand) instanceof Error),
        );
        const isKept = (demand: Demand) =>
          kept.has(demand.key) || kept.has(demandKey('series', demand)) || isKeptWithOthers(demand);
        const isKeptWithOthers = (demand: Demand) =>
          [...kept.values()].some(({ demand: one }) => isPartOf(demand, one));
        expect(fetched.filter((demand) => !isKept(demand))).toEqual([]);
      }),
      { numRuns: draws(1000) },
    ));

  test('whatever the service does where its specification is silent, each demand of others that a call takes along is settled once, with exactly its rows', () =>
    fc.assert(
      fc.asyncProperty(scenes(anyHabits, { unknownNames: 1 }), async ({ demands: all, ...scene }) => {
        const demands = all.slice(0, Math.ceil(all.length / 2));
        const late = all.slice(demands.length);
        const { table, habits } = scene;
        const { settled, outcomeOf, taken } = await open(table, habits, scene).fetch(demands, late);
        const keys = settled.map(({ key }) => key);
        expect(keys.toSorted()).toEqual([...demands, ...taken].map(({ key }) => key).sort());
        for (const demand of [...demands, ...taken])
          expectRight({ ...scene, demands }, demand, outcomeOf(demand));
      }),
      { numRuns: draws(1000) },
    ));

  test('whatever the service does where its specification is silent, a service that says what it refuses is asked for nothing twice', () =>
    fc.assert(
      fc.asyncProperty(
        scenes(
          anyHabits.filter(({ limit, unknown }) => limit !== 'refuse' && unknown !== 'refuse'),
          { unknownNames: 1 },
        ),
        async (scene) => {
          const { targets } = await open(scene.table, scene.habits, scene).fetch(scene.demands);
          expect(targets).toEqual([...new Set(targets)]);
        },
      ),
      { numRuns: draws(1000) },
    ));

  test.each(['latest', 'series'] as const)(
    'whatever the service does where its specification is silent, with counts to go by, %s figures take at the most twice the calls of a plan that knows all, and four, or one and four for each answer that is just full before any total has proved true',
    (mode) =>
      fc.assert(
        fc.asyncProperty(scenes(countingHabits), async ({ demands: all, ...scene }) => {
          const { table, habits, codesPerCall } = scene;
          const demands = all.filter((demand) => demand.mode === mode);
          const { targets, fullAnswers } = await open(table, habits, scene).fetch(demands);
          const limits = { maxRows: habits.maxRows, maxCodes: codesPerCall, maxAddress: 6000 };
          const lengthOf = (countryCode: string, metricKey: string) =>
            table.rows.filter(isOf({ countryCode, metricKey })).length;
          const rowsOf = mode === 'latest' ? () => 1 : lengthOf;
          const callsFor = (some: readonly Demand[], rows: typeof rowsOf) =>
            (some.length === 0 ? [] : cover(some, limits, rows)).reduce(
              (calls, rectangle) =>
                calls + Math.max(1, Math.ceil(expectedRows(rectangle, rows) / habits.maxRows)),
              0,
            );
          // Demands whose latest row has no value: their figure is taken from the series.
          const isBlank = (demand: Demand) => newestIn(table.rows.filter(isOf(demand)))?.value === null;
          const further = mode === 'latest' ? demands.filter(isBlank) : [];
          const atBest = callsFor(demands, rowsOf) + callsFor(further, lengthOf);
          // Just full, and counted as long as it is: nothing tells it from one that was cut, and counted as it was sent.
          // The others of it take two calls, and its years three; one call may find out the limit.
          const allowance = Math.max(4, 1 + 4 * fullAnswers);
          expect(targets.length).toBeLessThanOrEqual(atBest * 2 + allowance);
        }),
        { numRuns: draws(1000) },
      ),
  );

  test('whatever the service does where its specification is silent, a plan by lengths that are known is right the first time: nothing is cut', () =>
    fc.assert(
      fc.asyncProperty(tables(30), fc.integer({ min: 50, max: 300 }), async (table, maxRows) => {
        const { fetch } = open(table, { maxRows, defaultRows: 40, overLimit: 'lower' });
        const demands = demandsFor('series', table);
        const first = await fetch(demands);
        expect(first.targets).toEqual([...new Set(first.targets)]);
        const second = await fetch(demands);
        const lengthOf = (countryCode: string, metricKey: string) =>
          table.rows.filter(isOf({ countryCode, metricKey })).length;
        const plan = cover(demands, { maxRows, maxCodes: 250, maxAddress: 6000 }, lengthOf);
        // An answer that is just as long as the limit may be cut for all that is known, and is looked into.
        const isPlain = plan.every((rectangle) => expectedRows(rectangle, lengthOf) < maxRows);
        if (isPlain && first.targets.length > 1) expect(second.targets).toHaveLength(plan.length);
        for (const demand of demands) expect(second.valuesOf(demand)).toEqual(rightAnswer(table, demand));
      }),
      { numRuns: draws(300) },
    ));
});

describe('what a set of demands costs', () => {
  const latestOf = (countries: number, metrics: number) => {
    const table = tableOf(countries, metrics, () => 2);
    return { table, demands: demandsFor('latest', table) };
  };

  it('a set of demands costs one call for 162 latest figures, nothing being known', async () => {
    const { table, demands } = latestOf(54, 3);
    expect((await open(table).fetch(demands)).targets).toHaveLength(1);
  });

  it('a set of demands costs two calls for 54 × 19 latest figures, and nothing is missing', async () => {
    const { table, demands } = latestOf(54, 19);
    const { targets, valuesOf } = await open(table).fetch(demands);
    expect(targets).toHaveLength(2);
    for (const demand of demands) expect(valuesOf(demand)).toEqual(rightAnswer(table, demand));
  });

  it.each(['pair', 'year', 'year-descending'] as const)(
    'a set of demands costs three calls for a single series of 2,100 rows (%s)',
    async (order) => {
      const rows = Array.from({ length: 2100 }, (_, i) => {
        const place = i % 30;
        const year = 1950 + Math.floor(i / 30);
        return {
          countryCode: 'AA',
          metricKey: 'm',
          year,
          locationName: place === 0 ? null : `${place}`,
          value: i,
        };
      });
      const table = { countryCodes: ['AA'], metricKeys: ['m'], rows };
      const demand = demandFor('series', 'AA', 'm');
      const { targets, valuesOf } = await open(table, { order }).fetch([demand]);
      expect(valuesOf(demand)).toEqual(rightAnswer(table, demand));
      expect(targets).toHaveLength(3);
    },
  );

  it('a set of demands costs four calls for a series of every other year that is as long as an answer may be', async () => {
    const rows = Array.from({ length: 54 }, (_, i) => ({
      countryCode: 'AA',
      metricKey: 'm',
      year: 1950 + 2 * i,
      locationName: null,
      value: i,
    }));
    const table = { countryCodes: ['AA'], metricKeys: ['m'], rows };
    const habits = {
      order: 'pair',
      defaultRows: 27,
      maxRows: 54,
      total: 'true',
      overLimit: 'lower',
    } as const;
    const demand = demandFor('series', 'AA', 'm');
    const { targets, valuesOf } = await open(table, habits).fetch([demand]);
    expect(valuesOf(demand)).toEqual(rightAnswer(table, demand));
    expect(targets).toHaveLength(4);
  });

  test('an answer as long as a limit, and as the service counts, has its pairs without rows asked for together', async () => {
    const table = tableOf(3, 1, (c) => (c === 2 ? 5 : 0));
    const habits = {
      defaultRows: 5,
      maxRows: 5,
      total: 'true',
      tellsLimit: false,
      overLimit: 'refuse',
    } as const;
    const demands = table.countryCodes.map((code) => demandFor('series', code, 'metric_0'));
    const { targets } = await open(table, habits).fetch(demands);
    // Two to learn the limit, one for those without rows, three for the years of the one whose rows are as many.
    expect(targets).toHaveLength(6);
  });

  // Around a pair of a call for two countries and two metrics, the others take two calls.
  test.each([
    [1, 6],
    [2, 7],
  ])(
    'a pair whose rows are as many as a limit is not asked for again by itself where an answer was full of it (%i countries)',
    async (countries, calls) => {
      const table = tableOf(countries, 2, (c, m) => (c === 0 && m === 0 ? 37 : 0));
      const habits = { defaultRows: 32, maxRows: 37, tellsLimit: false } as const;
      const demands = demandsFor('series', table);
      const { targets, valuesOf } = await open(table, habits).fetch(demands);
      for (const demand of demands) expect(valuesOf(demand)).toEqual(rightAnswer(table, demand));
      const queries = targets.map((target) => new URL(target, 'http://service.test').searchParams);
      const isAlone = (query: URLSearchParams) =>
        query.get('country_codes') === 'AA' &&
        query.get('metric_keys') === 'metric_0' &&
        !query.has('end_year') &&
        !query.has('start_year');
      expect(queries.filter(isAlone)).toEqual([]);
      expect(targets).toHaveLength(calls);
    },
  );

  test('pairs are asked for together again where a cut answer was full of one that nobody wants, and its total counts the rest', async () => {
    const lengths = [
      [192, 43, 4, 25],
      [158, 1, 1, 1],
      [172, 1, 32, 2],
      [1, 159, 3, 119],
    ];
    const table = tableOf(4, 4, (c, m) => lengths[m]?.[c] ?? 0);
    const wanted: [string, number][] = [
      ['AA', 3],
      ['AB', 0],
      ['AC', 0],
      ['AC', 2],
      ['AD', 0],
      ['AD', 1],
      ['AD', 2],
    ];
    const demands = wanted.map(([code, metric]) => demandFor('series', code, `metric_${metric}`));
    const { targets, valuesOf } = await open(table, { maxRows: 114, tellsLimit: false }).fetch(demands);
    for (const demand of demands) expect(valuesOf(demand)).toEqual(rightAnswer(table, demand));
    expect(targets).toHaveLength(6);
  });

  test('two answers that are just full take five and three calls where no total has proved true', async () => {
    const lengths = [
      [0, 7, 0],
      [4, 0, 3],
    ];
    const table = tableOf(3, 2, (c, m) => lengths[m]?.[c] ?? 0);
    const wanted = [
      ['AA', 'metric_0'],
      ['AB', 'metric_0'],
      ['AA', 'metric_1'],
      ['AC', 'metric_1'],
    ] as const;
    const demands = wanted.map(([code, key]) => demandFor('series', code, key));
    const { fetch } = open(table, { defaultRows: 6, maxRows: 7 }, { codesPerCall: 2 });
    const { targets, fullAnswers, valuesOf } = await fetch(demands);
    for (const demand of demands) expect(valuesOf(demand)).toEqual(rightAnswer(table, demand));
    // Beside the one that tells the limit.
    expect([fullAnswers, targets.length]).toEqual([2, 1 + 5 + 3]);
  });

  test('a pair whose rows are as many as a limit, and that cannot be split, fails alone where an answer was full of it', async () => {
    const table = tableOf(2, 2, (c, m) => (c === 1 && m === 0 ? 37 : 0));
    const habits = {
      defaultRows: 32,
      maxRows: 37,
      total: 'capped',
      tellsLimit: false,
      years: 'refuse',
    } as const;
    const demands = demandsFor('series', table);
    const { settled, outcomeOf, valuesOf } = await open(table, habits).fetch(demands);
    expect(settled).toHaveLength(demands.length);
    for (const demand of demands)
      if (demand.countryCode === 'AB' && demand.metricKey === 'metric_0')
        expect(outcomeOf(demand)).toMatchObject({ code: 'UPSTREAM_INCOMPLETE' });
      else expect(valuesOf(demand)).toEqual([]);
  });

  it('a set of demands costs three calls for thirty series of 2,100 rows, and again three', async () => {
    const table = tableOf(30, 1, () => 70);
    const { fetch } = open(table);
    for (const _ of ['unknown', 'known']) {
      const { targets, valuesOf } = await fetch(demandsFor('series', table));
      expect(targets).toHaveLength(3);
      for (const demand of demandsFor('series', table))
        expect(valuesOf(demand)).toEqual(rightAnswer(table, demand));
    }
  });

  // 54 countries with two metrics of 60 to 90 rows: 17 calls of 500 rows at the least.
  it.each([
    ['pair', 'capped', 30],
    ['source', 'capped', 50],
    ['year', 'capped', 64],
    ['year-descending', 'capped', 64],
    ['shuffled', 'capped', 64],
    ['pair', 'none', 30],
    ['shuffled', 'none', 64],
  ] as const)(
    'all that can still be split is, if rows come by %s and the total is %s',
    async (order, total, most) => {
      const table = tableOf(54, 2, (c, m) => 60 + ((c * 7 + m * 13) % 31));
      const habits = {
        order,
        total,
        defaultRows: 500,
        maxRows: 500,
        limit: 'ignore',
        years: 'ignore',
      } as const;
      const demands = demandsFor('series', table);
      const { targets, valuesOf } = await open(table, habits).fetch(demands);
      for (const demand of demands) expect(valuesOf(demand)).toEqual(rightAnswer(table, demand));
      expect(targets.length).toBeLessThanOrEqual(most);
    },
  );

  it.each(['pair', 'shuffled'] as const)(
    'several latest rows of each pair, with totals of sent rows, come in as many calls as they take (%s)',
    async (order) => {
      const single = tableOf(54, 2, () => 1);
      const rows = single.rows.flatMap((row) =>
        [0, 1, 2].map((n) => ({ ...row, source: `source ${n}`, value: (row.value ?? 0) * 3 + n })),
      );
      const habits = { order, total: 'capped', limit: 'ignore', defaultRows: 100, maxRows: 100 } as const;
      const table = { ...single, rows };
      const demands = demandsFor('series', table);
      const { targets, valuesOf } = await open(table, habits).fetch(demands);
      for (const demand of demands) expect(valuesOf(demand)).toEqual(rightAnswer(table, demand));
      expect(targets.length).toBeLessThanOrEqual(16);
    },
  );

  it('the rest of a cut answer is planned by what came whole, though nothing proves it yet', async () => {
    const years = [
      [0, 2, 2],
      [1, 256, 30],
      [2, 155, 1],
      [3, 172, 0],
    ];
    const table = tableOf(4, 3, (c, m) => years[c]?.[m] ?? 0);
    // Long series that nobody wants are in the rectangle, so that the total proves nothing.
    const isWanted = ({ countryCode, metricKey }: Demand) =>
      metricKey !== keyAt(1) || countryCode === codeAt(0);
    const demands = demandsFor('series', table).filter(isWanted);
    const { targets, valuesOf } = await open(table, { maxRows: 102, overLimit: 'refuse' }).fetch(demands);
    expect(targets).toHaveLength(8);
    for (const demand of demands) expect(valuesOf(demand)).toEqual(rightAnswer(table, demand));
  });

  // The newest rows of two pairs have no value, so their series are asked for after the series of the other two.
  const aroundFour = {
    demands: [
      demandFor('series', 'AA', 'metric_0'),
      demandFor('series', 'AB', 'metric_1'),
      demandFor('latest', 'AA', 'metric_1'),
      demandFor('latest', 'AB', 'metric_0'),
      demandFor('latest', 'AC', 'metric_0'),
    ],
    tableWith(yearsOf: (c: number, m: number) => number): Table {
      const isBlank = ({ countryCode, metricKey, year }: Row) =>
        year === 2025 && ['AA metric_1', 'AB metric_0'].includes(`${countryCode} ${metricKey}`);
      const table = tableOf(3, 2, yearsOf);
      return { ...table, rows: table.rows.map((row) => (isBlank(row) ? { ...row, value: null } : row)) };
    },
  };

  it('a set of demands costs two calls where an answer to series has those of latest figures that stand further back', async () => {
    const table = aroundFour.tableWith((c) => (c === 2 ? 30 : 4));
    const { targets, valuesOf } = await open(table, {}, { overfetchRows: 0 }).fetch(aroundFour.demands);
    expect(targets).toEqual([
      '/v1/data?country_codes=AA,AB,AC&latest=true&metric_keys=metric_0,metric_1',
      '/v1/data?country_codes=AA,AB&limit=1000&metric_keys=metric_0,metric_1',
    ]);
    for (const demand of aroundFour.demands) expect(valuesOf(demand)).toEqual(rightAnswer(table, demand));
  });

  it('a call whose answer was cut is not sent again for latest figures that stand further back', async () => {
    const table = aroundFour.tableWith((c, m) => (c === 2 ? 30 : c === 0 && m === 1 ? 25 : 2));
    const habits = { defaultRows: 13, maxRows: 13, total: 'capped', years: 'exclude both' } as const;
    const { targets, valuesOf } = await open(table, habits, { overfetchRows: 0 }).fetch(aroundFour.demands);
    expect(targets).toEqual([...new Set(targets)]);
    for (const demand of aroundFour.demands) expect(valuesOf(demand)).toEqual(rightAnswer(table, demand));
  });

  it('a refused call is not sent again for another part of the plan', async () => {
    const table = tableOf(1, 2, (_, m) => (m === 0 ? 2 : 0));
    const habits = { nothing: 'not found', unknown: 'name', years: 'refuse', maxRows: 13 } as const;
    const late = { from: 1995, to: null };
    const demands = [
      demandFor('series', 'XC', 'metric_1', undefined, { from: 2030, to: 2040 }),
      demandFor('series', 'XC', 'metric_0', undefined, late),
      demandFor('series', 'AA', 'metric_1', undefined, late),
      demandFor('latest', 'AA', 'metric_1'),
      demandFor('series', 'AA', 'metric_900'),
      demandFor('series', 'XC', 'metric_1'),
      demandFor('latest', 'XC', 'metric_900'),
    ];
    const means = { overfetchRows: 20, codesPerCall: 2 };
    const { targets, valuesOf } = await open(table, habits, means).fetch(demands);
    expect(targets).toEqual([...new Set(targets)]);
    for (const demand of demands) expect(valuesOf(demand)).toEqual([]);
  });

  it('a set of demands costs one more call, once, where the service refuses `limit`', async () => {
    const { table, demands } = latestOf(54, 3);
    const { fetch } = open(table, { limit: 'refuse', defaultRows: 1000 });
    expect((await fetch(demands)).targets).toHaveLength(2);
    expect((await fetch(demands)).targets).toHaveLength(1);
  });

  it('latest figures come together with series in one call, within the row budget', async () => {
    const table = tableOf(1, 2, () => 70);
    const [series, other] = demandsFor('series', table) as [Demand, Demand];
    const latest = [series, other].map(({ countryCode, metricKey }) =>
      demandFor('latest', countryCode, metricKey),
    );
    const demands = [series, ...latest];
    const together = await open(table, {}, { overfetchRows: 500 }).fetch(demands);
    expect(together.targets).toHaveLength(1);
    expect((await open(table, {}, { overfetchRows: 10 }).fetch(demands)).targets).toHaveLength(2);
    for (const demand of demands) expect(together.valuesOf(demand)).toEqual(rightAnswer(table, demand));
  });
});

describe('a name that the service refuses', () => {
  // Most calls: the refused one, a halving for each power of two in the names, and those for the rest.
  it.each([
    ['name', 404, 2],
    ['name', 422, 2],
    ['refuse', 404, 7],
    ['refuse', 422, 7],
  ] as const)(
    'a name that the service refuses fails its own demands alone, and is not asked for again (%s, %i)',
    async (unknown, unknownStatus, most) => {
      const table = tableOf(2, 18, () => 2);
      const demands = demandsFor('latest', { ...table, metricKeys: [...table.metricKeys, 'nonsense'] });
      const { fetch } = open(table, { unknown, unknownStatus });
      const { targets, outcomeOf, valuesOf } = await fetch(demands);
      for (const demand of demands) {
        const isNonsense = demand.metricKey === 'nonsense';
        if (isNonsense && unknownStatus === 422)
          expect(outcomeOf(demand)).toMatchObject({ code: 'BAD_USER_INPUT' });
        else expect(valuesOf(demand)).toEqual(rightAnswer(table, demand));
      }
      expect(targets.length).toBeLessThanOrEqual(most);
      expect((await fetch(demands)).targets).toHaveLength(1);
    },
  );
});

describe('a search for a refused name', () => {
  const search = async (habits: Partial<Habits>, metrics: number, countries = 54) => {
    const table = tableOf(countries, metrics, () => 2);
    const wrong = `metric_${Math.floor(metrics / 3)}x`;
    const asked = { ...table, metricKeys: [...table.metricKeys, wrong] };
    const { learned, fetch } = open(table, { unknown: 'refuse', ...habits });
    for (const code of table.countryCodes) learned.listed.countries.add(code);
    const demands = demandsFor('latest', asked);
    return { table, wrong, demands, ...(await fetch(demands)) };
  };

  it.each([
    [404, 1],
    [404, 2],
    [404, 8],
    [404, 17],
    [422, 1],
    [422, 8],
    [422, 17],
  ] as const)(
    'a search for a refused name costs twice the powers of two in the names (%i, one wrong among %i)',
    async (unknownStatus, metrics) => {
      const { table, wrong, demands, targets, outcomeOf, valuesOf } = await search(
        { unknownStatus },
        metrics,
      );
      // The plan, two calls for each halving, and the halves that are asked for in the end.
      expect(targets.length).toBeLessThanOrEqual(2 + 2 * Math.ceil(Math.log2(metrics + 1)));
      for (const demand of demands) {
        if (demand.metricKey === wrong && unknownStatus === 422) {
          expect(outcomeOf(demand)).toMatchObject({ code: 'BAD_USER_INPUT' });
        } else expect(valuesOf(demand)).toEqual(rightAnswer(table, demand));
      }
    },
  );

  it('a search for a refused name tells "no rows" of a known metric from an unknown one', async () => {
    const full = tableOf(3, 2, () => 2);
    const rows = full.rows.filter(
      ({ countryCode, metricKey }) => countryCode !== 'AB' || metricKey !== 'metric_1',
    );
    const table = { ...full, rows };
    const { fetch } = open(table, { unknown: 'refuse', nothing: 'not found' });
    const at = (countryCode: string) => demandFor('latest', countryCode, 'metric_1');
    const first = await fetch([at('AB')]);
    expect(first.valuesOf(at('AB'))).toEqual([]);
    const { targets, valuesOf } = await fetch([at('AA'), at('AC')]);
    expect(valuesOf(at('AA'))).toEqual(rightAnswer(table, at('AA')));
    expect(valuesOf(at('AC'))).toEqual(rightAnswer(table, at('AC')));
    expect(targets).toHaveLength(1);
  });

  it('a search for a refused name remembers no name on whose account alone a call need not have been refused', async () => {
    const table = tableOf(1, 2, () => 2);
    const { fetch } = open(table, { unknown: 'refuse', unknownStatus: 422 });
    const known = demandFor('latest', 'AA', 'metric_0');
    const elsewhere = demandFor('latest', 'KE', 'metric_0');
    // KE is one of the 54, but not of this service's: the metric is as little known.
    expect((await fetch([elsewhere])).outcomeOf(elsewhere)).toMatchObject({ code: 'BAD_USER_INPUT' });
    expect((await fetch([known])).valuesOf(known)).toEqual(rightAnswer(table, known));
  });

  it('a search for a refused name fails what it cannot tell apart, and calls nothing empty', async () => {
    const table = tableOf(80, 1, () => 2);
    // None of the countries is known to the service by any list, and no metric that it knows is asked for.
    const demands = demandsFor('latest', { ...table, metricKeys: ['nonsense'] });
    const { targets, outcomeOf } = await open(table, { unknown: 'refuse' }).fetch(demands);
    expect(targets.length).toBeLessThan(100);
    const outcomes = demands.map(outcomeOf);
    const failed = outcomes.filter((outcome) => outcome instanceof Failure);
    // Finds names proven that were asked for by themselves; all the rest says that it could not be told.
    expect(failed.length).toBeGreaterThan(0);
    for (const failure of failed) expect(failure).toMatchObject({ code: 'BAD_USER_INPUT' });
    const alone = new Set(
      targets.map((target) => new URL(target, 'http://service.test').searchParams.get('country_codes')),
    );
    for (const [i, outcome] of outcomes.entries()) {
      if (Array.isArray(outcome)) expect([...alone]).toContain(demands[i]?.countryCode);
    }
  });
});

describe('metric keys that differ in case alone', () => {
  const lower = demandFor('latest', 'AA', 'metric_0');
  const upper = demandFor('latest', 'AA', 'METRIC_0');

  it('metric keys that differ in case alone are one where the service takes them for one, asked for alone or together', async () => {
    const table = tableOf(1, 1, () => 2);
    const { fetch } = open(table, { folds: true });
    const { valuesOf } = await fetch([upper]);
    expect(valuesOf(upper)).toEqual(rightAnswer(table, lower));
    const together = await open(table, { folds: true }).fetch([lower, upper]);
    expect([lower, upper].map(together.valuesOf)).toEqual([
      rightAnswer(table, lower),
      rightAnswer(table, lower),
    ]);
  });

  it.each(['empty', 'name', 'refuse'] as const)(
    'metric keys that differ in case alone are two where the service tells them apart (%s): the wrong one takes nothing from the right one',
    async (unknown) => {
      const table = tableOf(1, 1, () => 2);
      const { fetch } = open(table, { unknown });
      const { valuesOf } = await fetch([upper, lower]);
      expect(valuesOf(lower)).toEqual(rightAnswer(table, lower));
      expect(valuesOf(upper)).toEqual([]);
      expect((await fetch([lower])).valuesOf(lower)).toEqual(rightAnswer(table, lower));
    },
  );
});

describe('what is learned of `limit`', () => {
  it('what is learned of `limit` is right where two first calls run into the highest limit at once', async () => {
    const table = tableOf(6, 1, () => 60);
    const { learned, fetch } = open(table, { maxRows: 250, defaultRows: 100, overLimit: 'refuse' });
    const [first, second] = await Promise.all([
      fetch(demandsFor('series', { ...table, countryCodes: table.countryCodes.slice(0, 3) })),
      fetch(demandsFor('series', { ...table, countryCodes: table.countryCodes.slice(3) })),
    ]);
    for (const demand of demandsFor('series', table)) {
      const own = first.outcomeOf(demand) === undefined ? second : first;
      expect(own.valuesOf(demand)).toEqual(rightAnswer(table, demand));
    }
    expect([learned.facts().limitParam, learned.facts().maxRows]).toEqual(['accepted', 250]);
  });

  it('an answer that is cut far below the limit makes calls small until one brings more', async () => {
    const table = tableOf(6, 1, () => 60);
    const { learned, fetch } = open(table);
    learned.learn({ maxRows: 5, limitParam: 'accepted' });
    const demands = demandsFor('series', table);
    const first = await fetch(demands);
    for (const demand of demands) expect(first.valuesOf(demand)).toEqual(rightAnswer(table, demand));
    expect(first.targets.every((target) => target.includes('limit=1000'))).toBe(true);
    expect(learned.facts().maxRows).toBeGreaterThan(60);
  });

  it('an answer of just a default page that nothing counts is asked for in halves', async () => {
    const table = tableOf(50, 1, () => 2);
    const { fetch } = open(table, { total: 'none', tellsLimit: false });
    const demands = demandsFor('series', table);
    const { targets, valuesOf } = await fetch(demands);
    expect(targets).toHaveLength(3);
    for (const demand of demands) expect(valuesOf(demand)).toEqual(rightAnswer(table, demand));
  });

  it('an answer of just a default page is whole where the service has named its highest limit', async () => {
    const { fetch } = open(
      tableOf(1, 1, () => DEFAULT_MAX_ROWS),
      {
        total: 'capped',
        tellsLimit: false,
        years: 'ignore',
        maxRows: 140,
      },
    );
    const [demand] = demandsFor(
      'series',
      tableOf(1, 1, () => 1),
    ) as [Demand];
    const { targets, valuesOf } = await fetch([demand]);
    expect(targets.map((target) => /limit=(\d+)/.exec(target)?.[1])).toEqual(['1000', '140']);
    expect(valuesOf(demand)).toHaveLength(DEFAULT_MAX_ROWS);
  });
});
