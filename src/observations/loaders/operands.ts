import type { ObservationRecord } from '../../service/records/observations.ts';
import { mapValue, type PromiseOrValue } from '../../shared/async/turns.ts';
import type { Outcome } from '../fetch.ts';
import { covers, type Demand, demandFor, keyOf, type Pair, yearRange } from '../planner/demand.ts';
import { periodKeyOf } from '../planner/newest.ts';
import type { Effort } from './effort.ts';
import type { National } from './outcomes.ts';

export interface WantedFigure extends Pair {
  readonly year: number;
  /** Period of the figure that it is compared with, of the same year. */
  readonly period: string;
  /** True for a figure of the whole country. */
  readonly isNational: boolean;
}

/** Loads figures to compare with, together with the figures themselves as far as they are known beforehand. */
export function createOperandLoader(
  effort: Effort,
  outcomesOf: (demands: readonly Demand[]) => PromiseOrValue<readonly Outcome[]>,
  nationalsOf: (demands: readonly Demand[]) => PromiseOrValue<readonly National[]>,
) {
  /** Prefetched demands, by pair. */
  const expected = { latest: new Map<string, Demand[]>(), series: new Map<string, Demand[]>() };

  /** Returns true if the demand is new. */
  function expect(demand: Demand): boolean {
    const byPair = expected[demand.mode];
    const pair = keyOf(demand);
    const demandsOfPair = byPair.get(pair);
    if (demandsOfPair === undefined) byPair.set(pair, [demand]);
    else if (demandsOfPair.some(({ key, maxAgeMs }) => key === demand.key && maxAgeMs === demand.maxAgeMs))
      return false;
    else demandsOfPair.push(demand);
    return true;
  }

  /**
   * Asks for figures that will be wanted, so that they travel with the other demands of the turn.
   * @throws Failure OPERATION_TOO_EXPENSIVE
   */
  function prefetch(demands: readonly Demand[]): void {
    const fresh = demands.filter(expect);
    if (fresh.length === 0) return;
    effort.want(fresh.length);
    const latest = fresh.filter(({ mode }) => mode === 'latest');
    const series = fresh.filter(({ mode }) => mode === 'series');
    // The fields that want them report their errors.
    if (latest.length > 0) ignore(nationalsOf(latest));
    if (series.length > 0) ignore(outcomesOf(series));
  }

  function expectedSeries(pair: string, from: number, to: number): Demand | undefined {
    return expected.series.get(pair)?.find(({ years }) => years === null || covers(years, { from, to }));
  }

  /** The rows that include the figure of each pair, if it exists. */
  function byPair(wanted: readonly WantedFigure[]): PromiseOrValue<ReadonlyMap<string, Outcome>> {
    const spans = new Map<string, { readonly first: WantedFigure; from: number; to: number }>();
    for (const one of wanted) {
      const span = spans.get(keyOf(one));
      if (span === undefined) spans.set(keyOf(one), { first: one, from: one.year, to: one.year });
      else [span.from, span.to] = [Math.min(span.from, one.year), Math.max(span.to, one.year)];
    }
    effort.want(spans.size);
    const demands = [...spans].map(
      ([pair, { first, from, to }]) =>
        expectedSeries(pair, from, to) ??
        demandFor('series', first.countryCode, first.metricKey, undefined, yearRange(from, to)),
    );
    return mapValue(
      outcomesOf(demands),
      (outcomes) => new Map([...spans.keys()].map((pair, i) => [pair, outcomes[i] ?? NONE])),
    );
  }

  /** The rows that include each figure, in order of the wanted ones. */
  function series(wanted: readonly WantedFigure[]): PromiseOrValue<readonly Outcome[]> {
    return mapValue(byPair(wanted), (outcomes) => wanted.map((one) => outcomes.get(keyOf(one)) ?? NONE));
  }

  /** The demand for the latest figure of a pair, if that was asked for and its series was not. */
  const latestFor = (one: WantedFigure) =>
    one.isNational && expectedSeries(keyOf(one), one.year, one.year) === undefined
      ? expected.latest.get(keyOf(one))?.[0]
      : undefined;

  /** As `series`, but uses latest figures that have been asked for if they decide. */
  function preferLatest(wanted: readonly WantedFigure[]): PromiseOrValue<readonly Outcome[]> {
    const asked = new Map(wanted.map((one) => [one, latestFor(one)]));
    const demands = [...new Set(asked.values())].filter((demand) => demand !== undefined);
    if (demands.length === 0) return series(wanted);
    effort.want(wanted.length);
    return mapValue(nationalsOf(demands), (nationals) => {
      const latest = new Map<Demand | undefined, National>(
        demands.map((one, i) => [one, nationals[i] ?? null]),
      );
      const settled = new Map<WantedFigure, Outcome>();
      for (const [one, demand] of asked) {
        const outcome = demand && outcomeByLatest(latest.get(demand) ?? null, one);
        if (outcome != null) settled.set(one, outcome);
      }
      const pending = wanted.filter((one) => !settled.has(one));
      const byPairs = pending.length === 0 ? NO_PAIRS : byPair(pending);
      return mapValue(byPairs, (outcomes) =>
        wanted.map((one) => settled.get(one) ?? outcomes.get(keyOf(one)) ?? NONE),
      );
    });
  }

  return {
    prefetch,
    series,
    preferLatest,
    /** The service's own choice among several figures. */
    latest(pairs: readonly Pair[]): PromiseOrValue<readonly National[]> {
      effort.want(pairs.length);
      return nationalsOf(
        pairs.map((pair) => {
          const [asked] = expected.latest.get(keyOf(pair)) ?? expected.series.get(keyOf(pair)) ?? [];
          return demandFor('latest', pair.countryCode, pair.metricKey, asked?.maxAgeMs);
        }),
      );
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
