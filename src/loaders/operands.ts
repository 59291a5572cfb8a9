import { mapValue, type PromiseOrValue } from '../async/promise-or-value.ts';
import type { Outcome } from '../observations/outcome.ts';
import type { Pair } from '../planner/cover.ts';
import { type Demand, demandFor, keyOf } from '../planner/demand.ts';
import { periodKeyOf } from '../planner/newest.ts';
import { covers, yearRange } from '../planner/year-range.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';
import type { Effort } from './effort.ts';

/** A figure that another one is compared with. */
export interface WantedFigure extends Pair {
  readonly year: number;
  /** Period of the figure which it is compared with, which is of the same year. */
  readonly period: string;
  /** True if it is the figure of the whole country. */
  readonly isNational: boolean;
}

/** Loads figures that others are compared with: together with those, as far as they are known beforehand. */
export interface OperandLoader {
  /**
   * Asks for figures that will be wanted, so that they travel with the other demands of the same turn.
   * @throws Failure OPERATION_TOO_EXPENSIVE if they are more than may be
   */
  ahead(demands: readonly Demand[]): void;
  /**
   * Returns the rows among which each figure is, if there is one: the series, or some years of it. An Error if that
   * can't be told.
   */
  series(wanted: readonly WantedFigure[]): PromiseOrValue<readonly Outcome[]>;
  /** Answers as `series` does; but if the latest figure has been asked for and tells, it stands for the series. */
  near(wanted: readonly WantedFigure[]): PromiseOrValue<readonly Outcome[]>;
  /** Returns the latest figures of whole countries: if several figures may be wanted, the service's own choice. */
  latest(pairs: readonly Pair[]): PromiseOrValue<readonly (ObservationRecord | Error | null)[]>;
}

export interface OperandLoaderParts {
  readonly effort: Effort;
  /** Returns the outcomes of demands for series. */
  readonly outcomesOf: (demands: readonly Demand[]) => PromiseOrValue<readonly Outcome[]>;
  /** Returns the latest figures of whole countries, of demands for latest ones. */
  readonly nationalsOf: (
    demands: readonly Demand[],
  ) => PromiseOrValue<readonly (ObservationRecord | Error | null)[]>;
}

export function createOperandLoader(parts: OperandLoaderParts): OperandLoader {
  const { effort, outcomesOf, nationalsOf } = parts;
  /** Demands that were made beforehand, by pair. */
  const expected = { latest: new Map<string, Demand[]>(), series: new Map<string, Demand[]>() };

  /** Notes a demand. @returns true if it is new */
  function expect(demand: Demand): boolean {
    const byPair = expected[demand.mode];
    const pair = keyOf(demand);
    const known = byPair.get(pair);
    if (known === undefined) byPair.set(pair, [demand]);
    else if (known.some(({ key, maxAgeMs }) => key === demand.key && maxAgeMs === demand.maxAgeMs))
      return false;
    else known.push(demand);
    return true;
  }

  function ahead(demands: readonly Demand[]): void {
    const fresh = demands.filter(expect);
    if (fresh.length === 0) return;
    effort.want(fresh.length);
    const latest = fresh.filter(({ mode }) => mode === 'latest');
    const series = fresh.filter(({ mode }) => mode === 'series');
    // Their outcomes are told to the fields that want them.
    if (latest.length > 0) ignore(nationalsOf(latest));
    if (series.length > 0) ignore(outcomesOf(series));
  }

  function expectedSeries(pair: string, from: number, to: number): Demand | undefined {
    return expected.series.get(pair)?.find(({ years }) => years === null || covers(years, { from, to }));
  }

  function series(wanted: readonly WantedFigure[]): PromiseOrValue<readonly Outcome[]> {
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
    return mapValue(outcomesOf(demands), (outcomes) => {
      const byPair = new Map([...spans.keys()].map((pair, i) => [pair, outcomes[i]]));
      return wanted.map((one) => byPair.get(keyOf(one)) ?? NONE);
    });
  }

  /**
   * Finds the demand for the latest figure of its country and indicator, if that was asked for and the series was not.
   */
  const latestFor = (one: WantedFigure) =>
    one.isNational && expectedSeries(keyOf(one), one.year, one.year) === undefined
      ? expected.latest.get(keyOf(one))?.[0]
      : undefined;

  function near(wanted: readonly WantedFigure[]): PromiseOrValue<readonly Outcome[]> {
    const demands = new Map(wanted.map((one) => [keyOf(one), latestFor(one)]));
    const asked = [...demands.values()].filter((demand) => demand !== undefined);
    if (asked.length === 0) return series(wanted);
    effort.want(wanted.length);
    return mapValue(nationalsOf(asked), (nationals) => {
      const byPair = new Map(asked.map((demand, i) => [keyOf(demand), nationals[i]]));
      const told = wanted.map((one) => {
        const latest = byPair.get(keyOf(one));
        return latestFor(one) === undefined || latest === undefined ? null : toldBy(latest, one);
      });
      const untold = wanted.filter((_, i) => told[i] === null);
      if (untold.length === 0) return told.map((outcome) => outcome ?? NONE);
      return mapValue(series(untold), (outcomes) => {
        let next = 0;
        return told.map((outcome) => outcome ?? outcomes[next++] ?? NONE);
      });
    });
  }

  return {
    ahead,
    series,
    near,
    latest(pairs) {
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

/** Returns the figure that the latest one tells of a wanted one; null if that stands in the series, if anywhere. */
function toldBy(latest: ObservationRecord | Error | null, wanted: WantedFigure): Outcome | null {
  if (latest === null) return NONE;
  if (latest instanceof Error || latest.year < wanted.year)
    return latest instanceof Error ? latest : [latest];
  // The year may have figures for other periods, and for this one several: then the latest is the one that the service
  // has chosen.
  const isOfPeriod = latest.period === wanted.period || periodKeyOf(latest) === periodKeyOf(wanted);
  return latest.year === wanted.year && isOfPeriod ? [latest] : null;
}

function ignore(promise: PromiseOrValue<unknown>): void {
  if (promise instanceof Promise) promise.catch(() => {});
}
