import type { ObservationRecord } from '../../service/records/observations.ts';
import { mapValue, type PromiseOrValue } from '../../shared/async/promises.ts';
import type { Outcome } from '../fetch.ts';
import {
  covers,
  type Demand,
  demandFor,
  demandsFor,
  keyOfPair,
  type Mode,
  type Pair,
  type YearRange,
  yearRange,
} from '../planner/demand.ts';
import { periodKeyOf } from '../planner/newest.ts';
import { madeInTurns, type Turns } from './in-turns.ts';
import type { National } from './outcomes.ts';

export interface WantedFigure extends Pair {
  readonly year: number;
  /** Period of the figure that it is compared with, of the same year. */
  readonly period: string;
  /** True for a figure of the whole country. */
  readonly isNational: boolean;
}

/** Figures that will be wanted: of every country with every metric. */
export interface ExpectedFigures {
  readonly mode: Mode;
  readonly countryCodes: readonly string[];
  readonly metricKeys: readonly string[];
  readonly maxAgeMs: number;
  /** Null for all. */
  readonly years: YearRange | null;
}

/** Demands that are asked for in one step. */
const STEP_DEMANDS = 100;

type OutcomesOf = (demands: readonly Demand[]) => PromiseOrValue<readonly Outcome[]>;
type NationalsOf = (demands: readonly Demand[]) => PromiseOrValue<readonly National[]>;

/** Asks for figures to compare with as far as they are known beforehand. */
function createExpected(turns: Turns, outcomesOf: OutcomesOf, nationalsOf: NationalsOf) {
  const { effort } = turns;
  /** Prefetched demands, by pair. */
  const expected = { latest: new Map<string, Demand[]>(), series: new Map<string, Demand[]>() };
  /** Settles once all prefetches so far are asked for; undefined if each was at once. */
  let beginning: Promise<unknown> | undefined;

  /** Returns true if the demand is new. */
  function expect(demand: Demand): boolean {
    const byPair = expected[demand.mode];
    const pair = keyOfPair(demand);
    const demandsOfPair = byPair.get(pair);
    if (demandsOfPair === undefined) byPair.set(pair, [demand]);
    else if (demandsOfPair.some(({ key, maxAgeMs }) => key === demand.key && maxAgeMs === demand.maxAgeMs))
      return false;
    else demandsOfPair.push(demand);
    return true;
  }

  /**
   * Asks for figures that will be wanted, so that they travel with the other demands of the turn.
   * @returns settles once all are asked for
   * @throws Failure OPERATION_TOO_EXPENSIVE
   */
  function prefetch(wanted: PromiseOrValue<readonly ExpectedFigures[]>): PromiseOrValue<void> {
    const asking = mapValue(wanted, askForAll);
    if (asking instanceof Promise) beginning = Promise.allSettled([beginning, asking]);
    return asking;
  }

  function askForAll(wanted: readonly ExpectedFigures[]): PromiseOrValue<void> {
    const fresh: Demand[] = [];
    const ofCountries = wanted.flatMap((some) => some.countryCodes.map((code) => [some, code] as const));
    const expecting = madeInTurns(
      turns,
      ofCountries,
      ([{ mode, metricKeys, maxAgeMs, years }, countryCode]) => {
        const some = demandsFor(mode, [countryCode], metricKeys, maxAgeMs, years).filter(expect);
        effort.want(some.length);
        fresh.push(...some);
      },
    );
    return mapValue(expecting, () => mapValue(askInTurns(fresh), () => {}));
  }

  /**
   * Looks at what is prefetched once all of it is asked for. A prefetch may wait for names, and takes turns if it is long,
   * while the fields that it is for go on: which calls they make would depend on where a turn ended.
   */
  const whenBegun = <Result>(look: () => PromiseOrValue<Result>): PromiseOrValue<Result> =>
    beginning === undefined ? look() : turns.batchGate.closeDuring(beginning).then(look);

  /** The fields that want them report their errors. */
  function askInTurns(fresh: readonly Demand[]): PromiseOrValue<unknown> {
    if (fresh.length <= STEP_DEMANDS) return askFor(fresh);
    const steps: (readonly Demand[])[] = [];
    for (let from = 0; from < fresh.length; from += STEP_DEMANDS)
      steps.push(fresh.slice(from, from + STEP_DEMANDS));
    return madeInTurns(turns, steps, askFor);
  }

  function askFor(demands: readonly Demand[]): void {
    const latest = demands.filter(({ mode }) => mode === 'latest');
    const series = demands.filter(({ mode }) => mode === 'series');
    if (latest.length > 0) ignore(nationalsOf(latest));
    if (series.length > 0) ignore(outcomesOf(series));
  }

  function expectedSeries(pair: string, from: number, to: number): Demand | undefined {
    return expected.series.get(pair)?.find(({ years }) => years === null || covers(years, { from, to }));
  }

  /** The demand for the latest figure of a pair, if that was asked for and its series was not. */
  const latestFor = (one: WantedFigure) =>
    one.isNational && expectedSeries(keyOfPair(one), one.year, one.year) === undefined
      ? expected.latest.get(keyOfPair(one))?.[0]
      : undefined;

  return {
    prefetch,
    whenBegun,
    seriesFor: expectedSeries,
    latestFor,
    /** Undefined if no demand of the pair was asked for. */
    firstOf: (pair: string) => (expected.latest.get(pair) ?? expected.series.get(pair))?.[0],
  };
}

export type OperandLoader = ReturnType<typeof createOperandLoader>;

/** Loads figures to compare with, together with the figures themselves as far as they are known beforehand. */
export function createOperandLoader(turns: Turns, outcomesOf: OutcomesOf, nationalsOf: NationalsOf) {
  const { effort } = turns;
  const expected = createExpected(turns, outcomesOf, nationalsOf);

  /** The rows that include the figure of each pair, if it exists. */
  function byPair(wanted: readonly WantedFigure[]): PromiseOrValue<ReadonlyMap<string, Outcome>> {
    const spans = new Map<string, { readonly first: WantedFigure; from: number; to: number }>();
    const spanning = madeInTurns(turns, wanted, (one) => {
      const span = spans.get(keyOfPair(one));
      if (span === undefined) spans.set(keyOfPair(one), { first: one, from: one.year, to: one.year });
      else [span.from, span.to] = [Math.min(span.from, one.year), Math.max(span.to, one.year)];
    });
    const demanding = mapValue(spanning, () => {
      effort.want(spans.size);
      return madeInTurns(
        turns,
        [...spans],
        ([pair, { first, from, to }]) =>
          expected.seriesFor(pair, from, to) ??
          demandFor('series', first.countryCode, first.metricKey, undefined, yearRange(from, to)),
      );
    });
    return mapValue(demanding, (demands) =>
      mapValue(
        outcomesOf(demands),
        (outcomes) => new Map([...spans.keys()].map((pair, i) => [pair, outcomes[i] ?? NONE])),
      ),
    );
  }

  /** The rows that include each figure, in order of the wanted ones. */
  function series(wanted: readonly WantedFigure[]): PromiseOrValue<readonly Outcome[]> {
    const coming = expected.whenBegun(() => byPair(wanted));
    return mapValue(coming, (outcomes) =>
      madeInTurns(turns, wanted, (one) => outcomes.get(keyOfPair(one)) ?? NONE),
    );
  }

  /** As `series`, but uses latest figures that have been asked for if they decide. */
  function preferLatest(wanted: readonly WantedFigure[]): PromiseOrValue<readonly Outcome[]> {
    const looking = expected.whenBegun(() => madeInTurns(turns, wanted, expected.latestFor));
    return mapValue(looking, (asked) => {
      const demands = [...new Set(asked)].filter((demand) => demand !== undefined);
      if (demands.length === 0) return series(wanted);
      effort.want(wanted.length);
      return mapValue(nationalsOf(demands), (nationals) => {
        const latest = new Map<Demand | undefined, National>(
          demands.map((one, i) => [one, nationals[i] ?? null]),
        );
        const settling = madeInTurns(turns, wanted, (one, i) => {
          const demand = asked[i];
          return demand === undefined ? null : outcomeByLatest(latest.get(demand) ?? null, one);
        });
        return mapValue(settling, (settled) => {
          const pending = wanted.filter((_, i) => settled[i] === null);
          const byPairs = pending.length === 0 ? NO_PAIRS : byPair(pending);
          return mapValue(byPairs, (outcomes) =>
            madeInTurns(turns, wanted, (one, i) => settled[i] ?? outcomes.get(keyOfPair(one)) ?? NONE),
          );
        });
      });
    });
  }

  return {
    prefetch: expected.prefetch,
    series,
    preferLatest,
    /** The service's own choice among several figures. */
    latest(pairs: readonly Pair[]): PromiseOrValue<readonly National[]> {
      effort.want(pairs.length);
      const demandOf = (pair: Pair) => {
        const asked = expected.firstOf(keyOfPair(pair));
        return demandFor('latest', pair.countryCode, pair.metricKey, asked?.maxAgeMs);
      };
      return expected.whenBegun(() => nationalsOf(pairs.map(demandOf)));
    },
  };
}

const NONE: readonly ObservationRecord[] = [];
const NO_PAIRS: ReadonlyMap<string, Outcome> = new Map();

/** What the latest figure tells of a wanted one; null if only the series can tell. */
function outcomeByLatest(latest: ObservationRecord | Error | null, wanted: WantedFigure): Outcome | null {
  if (latest === null) return NONE;
  if (latest instanceof Error || latest.year < wanted.year)
    return latest instanceof Error ? latest : [latest];
  // The year may have figures for other periods, and several for this one: then the service chose the latest.
  const isOfPeriod = latest.period === wanted.period || periodKeyOf(latest) === periodKeyOf(wanted);
  return latest.year === wanted.year && isOfPeriod ? [latest] : null;
}

function ignore(promise: PromiseOrValue<unknown>): void {
  if (promise instanceof Promise) promise.catch(() => {});
}
