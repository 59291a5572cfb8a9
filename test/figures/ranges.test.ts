import { describe, expect, it } from 'vitest';
import { createDataFetch, gatheredStage } from '../../src/observations/client.ts';
import type { Outcome } from '../../src/observations/fetch.ts';
import {
  type Demand,
  demandFor,
  demandKey,
  isWithin,
  type YearRange,
} from '../../src/observations/planner/demand.ts';
import { createLearned } from '../../src/observations/planner/learned.ts';
import { createRefusedNames } from '../../src/observations/refused-names.ts';
import { sendingFor } from '../service/sending.ts';
import { createDataRoute, type Habits, isOf, SEEN, type Table, tableOf } from './data-route.ts';
import { partsWith } from './parts.ts';

const RANGE: YearRange = { from: 1990, to: 2024 };

/** Twenty annual series from 1950 on: whole, they take two calls, their years since 1990 one. */
const TABLE = tableOf(10, 2, () => 76);

/** The stages below the pool, over a service that several fetches share. */
function open(habits: Partial<Habits> = {}, table: Table = TABLE) {
  const { send, targets } = createDataRoute(table, { ...SEEN, ...habits });
  const learned = createLearned();
  const kept = new Map<string, { years: YearRange | null; rows: number }>();
  const parts = partsWith({
    send,
    learned,
    refusedNames: createRefusedNames(() => 0, 300_000),
    save(_key, { mode, years }, figures) {
      for (const { pair, rows } of figures) {
        const own = rows.filter(({ year }) => years === null || isWithin(years, year));
        kept.set(demandKey(mode, pair), { years, rows: own.length });
      }
    },
  });
  const fetch = gatheredStage(createDataFetch(parts));
  return {
    learned,
    kept,
    /** Years that the calls named, or `whole`. */
    async ask(demands: readonly Demand[]) {
      targets.length = 0;
      const outcomes = await fetch(demands, sendingFor());
      for (const demand of demands)
        expect(valuesIn(outcomes.get(demand.key), demand)).toEqual(rightOf(table, demand));
      return targets.map((target) => /start_year=\d+|end_year=\d+/.exec(target)?.[0] ?? 'whole');
    },
  };
}

function valuesIn(outcome: Outcome | undefined, { years }: Demand) {
  if (outcome === undefined || outcome instanceof Error) return outcome;
  const rows = outcome.filter(({ year }) => years === null || isWithin(years, year));
  return rows.map(({ value }) => value).sort((a, b) => a - b);
}

function rightOf({ rows }: Table, demand: Demand) {
  const { years } = demand;
  const own = rows.filter((row) => isOf(demand)(row) && (years === null || isWithin(years, row.year)));
  return own.map(({ value }) => value).sort((a, b) => Number(a) - Number(b));
}

const of = (
  years: YearRange | null,
  { countryCodes, metricKeys }: Pick<Table, 'countryCodes' | 'metricKeys'> = TABLE,
) =>
  countryCodes.flatMap((code) => metricKeys.map((key) => demandFor('series', code, key, undefined, years)));

describe('some years of many series', () => {
  it('some years of many series take one call, and are held as what they are', async () => {
    const { ask, kept, learned } = open();
    expect(await ask(of(RANGE))).toEqual(['end_year=2025']);
    expect([...kept.values()]).toEqual(
      TABLE.countryCodes.flatMap(() => [0, 1].map(() => ({ years: RANGE, rows: 35 }))),
    );
    expect(learned.facts().yearsParam).toBe('accepted');
    expect(learned.hasRowsWithin('AA', 'metric_0', null)).toBe(false);
  });

  it('some years of many series come whole from a service that leaves out the last year named', async () => {
    const { ask } = open({ years: 'exclude' });
    expect(await ask(of(RANGE))).toEqual(['end_year=2025']);
  });

  it('some years of many series take one more call from a service that refuses years, once', async () => {
    const { ask, kept, learned } = open({ years: 'refuse' });
    expect(await ask(of(RANGE))).toEqual(['end_year=2025', 'whole', 'whole']);
    expect(learned.facts().yearsParam).toBe('refused');
    expect([...kept.values()].every(({ years, rows }) => years === null && rows === 76)).toBe(true);
    expect(await ask(of(RANGE))).toEqual(['whole', 'whole']);
  });

  it('some years of many series take no further call from a service that ignores years', async () => {
    const { ask, learned } = open({ years: 'ignore' });
    expect(await ask(of(RANGE))).toEqual(['end_year=2025', 'whole']);
    expect(learned.facts().yearsParam).toBe('refused');
    expect(await ask(of(RANGE))).toEqual(['whole', 'whole']);
  });

  it('some years of many series are asked for without `limit` where it is that which is refused', async () => {
    const { ask, learned } = open({ limit: 'refuse', defaultRows: 1000 });
    const targets = await ask(of(RANGE));
    expect(targets).toEqual(['end_year=2025', 'end_year=2025']);
    expect([learned.facts().limitParam, learned.facts().yearsParam]).toEqual(['refused', 'accepted']);
  });

  it('some years of many series are completed where they are cut, and proved by their own total', async () => {
    const { ask, kept } = open({ maxRows: 500 });
    const targets = await ask(of(RANGE));
    expect(targets.every((target) => target === 'end_year=2025')).toBe(true);
    expect([...kept.values()].every(({ rows }) => rows === 35)).toBe(true);
  });

  it('some years of many series are asked for once for several ranges, and not at all beside the whole series', async () => {
    const { ask } = open();
    expect(await ask([...of({ from: 2000, to: 2010 }), ...of({ from: 2005, to: 2020 })])).toEqual([
      'end_year=2021',
    ]);
    expect(await ask([...of({ from: 2000, to: 2010 }), ...of(null)])).toEqual(['whole', 'whole']);
  });

  it('some years of many series leave the others as they are where a name is refused', async () => {
    const { ask } = open({ unknown: 'name' });
    const countryCodes = [...TABLE.countryCodes, 'ZZ'];
    const targets = await ask(of(RANGE, { ...TABLE, countryCodes }));
    expect(targets).toEqual(['end_year=2025', 'end_year=2025']);
  });

  it('some years of many series that have no rows are none, whatever the status says, and nothing is held against their names', async () => {
    const { ask, learned } = open({ nothing: 'not found' });
    for (const name of TABLE.countryCodes) learned.listed.countries.add(name);
    for (const name of TABLE.metricKeys) learned.listed.metrics.add(name);
    await ask(of({ from: 2030, to: 2040 }));
    expect(learned.facts().yearsParam).toBe('unknown');
  });

  it.each([
    ['refuse', 'pair'],
    ['ignore', 'pair'],
    ['ignore', 'year-descending'],
  ] as const)(
    'some years of many series come whole where years meet with %s, rows come by %s and nothing tells of a cut',
    async (years, order) => {
      const table = tableOf(54, 1, () => 76);
      const silent = { limit: 'refuse', total: 'none', tellsLimit: false, defaultRows: 1000 } as const;
      const { ask, learned } = open({ ...silent, years, order }, table);
      learned.learn({ totals: 'untold' });
      learned.learn({ limitParam: 'refused' });
      const targets = await ask(of({ from: 2016, to: null }, table));
      expect(targets).toEqual(['start_year=2015', 'whole', 'whole', 'whole', 'whole', 'whole']);
      expect(learned.facts().yearsParam).not.toBe('accepted');
    },
  );
});
