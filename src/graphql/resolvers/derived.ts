import { responsePathAsArray } from 'graphql';
import { createObjectMemo } from '../../cache/lru.ts';
import type { Outcome } from '../../observations/fetch.ts';
import { madeInTurns } from '../../observations/loaders/in-turns.ts';
import type { WantedFigure } from '../../observations/loaders/operands.ts';
import { keyOfPair, pairKey } from '../../observations/planner/demand.ts';
import { isNational, latestIn } from '../../observations/planner/latest.ts';
import { distinct, periodKeyOf, sourcesOf } from '../../observations/planner/newest.ts';
import { COVERED_COUNTRIES } from '../../service/records/countries.ts';
import { mayBeUnreadable, type ObservationRecord } from '../../service/records/observations.ts';
import { mapValue, type PromiseOrValue } from '../../shared/async/promises.ts';
import { quotientOf as decimalQuotientOf, differenceOf, percentAbove } from '../../shared/decimals.ts';
import { Failure } from '../../shared/errors.ts';
import { type Period, periodOf, shiftedPeriod } from '../../shared/periods.ts';
import type { BatchInfo, BatchResolver } from '../execution/plan.ts';
import type { GraphContext } from '../schema/context.ts';
import type {
  ObservationChangeArgs,
  ObservationPerArgs,
  ObservationRankArgs,
  Rank,
  ResolversParentTypes,
} from '../schema/generated.ts';
import { checkMetricKey, checkSince } from './argument-checks.ts';
import { existingNames } from './existing-names.ts';
import { warnedOfPeriods, warnOfSeveral } from './warned.ts';

/** Why a number derived from two figures would mislead; the text goes into a warning. */
export class Misfit {
  /** Each kind of misfit is warned of once per country and indicator. */
  readonly kind: string;
  readonly words: string;

  constructor(kind: string, words: string) {
    this.kind = kind;
    this.words = words;
  }
}

type Series = readonly ObservationRecord[];

/** At least one figure comparable with another: of the same place and part of the year, without duplicates. */
interface Matching {
  readonly rows: Series;
  /** True if there are several, one of which may be the latest national figure. */
  readonly mayBeLatest: boolean;
}

/** Of one place and period. */
type Alike = readonly [ObservationRecord, ...ObservationRecord[]];

/** Rows by year and place, then by period: daily series have thousands of rows to be matched. */
interface SeriesIndex {
  readonly byYear: ReadonlyMap<string, ReadonlyMap<string, Alike>>;
  /** The national figures that a service may choose as the latest. */
  readonly candidates: Series;
}

const indexes = createObjectMemo<SeriesIndex>('rows by year');

const nameOfYear = (year: number, place: string | null) => JSON.stringify([year, place]);

function indexOf(rows: Series): SeriesIndex {
  return indexes.of(rows) ?? indexes.put(rows, indexed(rows));
}

function indexed(rows: Series): SeriesIndex {
  const byYear = new Map<string, Map<string, Alike>>();
  for (const [name, ofYear] of Map.groupBy(rows, (row) => nameOfYear(row.year, row.locationName))) {
    const byPeriod = new Map<string, Alike>();
    for (const [period, some] of Map.groupBy(ofYear, periodKeyOf))
      byPeriod.set(period, distinct(some) as Alike);
    byYear.set(name, byPeriod);
  }
  return { byYear, candidates: latestIn(rows, { scope: 'NATIONAL' }).candidates };
}

/**
 * The figures of a year that are comparable with a given one: of the same place and the same part of the year, however
 * spelt. If the year's figures are all for one period, a calendar year and the last day of a fiscal year match too. A
 * period that can't be parsed matches the same text only.
 * @param rows rows of one country and indicator
 * @returns null if there is none of that year and place
 */
export function matching(rows: Series, row: ObservationRecord, year: number): Matching | Misfit | null {
  const { byYear, candidates: latest } = indexOf(rows);
  const candidates = byYear.get(nameOfYear(year, row.locationName));
  if (candidates === undefined) return null;
  const [only] = candidates.size === 1 ? candidates.values() : [];
  const match = candidates.get(shiftedKey(row, year - row.year)) ?? only;
  if (match !== undefined && (match !== only || isOfPeriod(match[0], row, year))) {
    const first = match[0];
    const isOlder =
      first.countryCode === row.countryCode && first.metricKey === row.metricKey && year < row.year;
    return { rows: match, mayBeLatest: match.length > 1 && !isOlder && latest.includes(first) };
  }
  const { countryCode, metricKey } = (only ?? ([...candidates.values()][0] as Alike))[0];
  const words = `${countryCode} ${metricKey} has figures of ${year}, but not just one that goes with the period ${row.period}`;
  return new Misfit('period', words);
}

/**
 * Picks the figure to compare with among the comparable ones: the only one; of several, the one that the service
 * returns as the latest, otherwise the one of the same source and release. The order of rows never decides.
 * @param latest the latest figure of their country and indicator, if they may be the latest
 */
export function decided(
  { rows, mayBeLatest }: Matching,
  row: ObservationRecord,
  latest: ObservationRecord | null,
): ObservationRecord | Misfit {
  const [first] = rows as readonly [ObservationRecord];
  if (rows.length === 1) return first;
  if (mayBeLatest && latest !== null && isSamePeriod(latest, first)) return latest;
  let same = rows.filter(({ source }) => source === row.source);
  if (same.length > 1) same = same.filter(({ datasetVersion }) => datasetVersion === row.datasetVersion);
  const [match, ...doubtful] = same;
  if (match !== undefined && doubtful.length === 0) return match;
  const { countryCode, metricKey, year } = first;
  const words = `${countryCode} ${metricKey} has several figures of ${year} (${sourcesOf(rows).join(', ')}), and not just one of the source ${row.source}`;
  return new Misfit('several', words);
}

function isSamePeriod(a: ObservationRecord, b: ObservationRecord): boolean {
  return a.year === b.year && a.locationName === b.locationName && periodKeyOf(a) === periodKeyOf(b);
}

/** True if the figures of a year, all for one period, are comparable with another. */
function isOfPeriod(only: ObservationRecord, row: ObservationRecord, year: number): boolean {
  return (
    periodKeyOf(only) === shiftedKey(row, year - row.year) || areYearAndDay(periodOf(row), periodOf(only))
  );
}

/** True if one is a calendar year and the other a day, which stands for the fiscal year that it ends. */
function areYearAndDay(a: Period | null, b: Period | null): boolean {
  if (a === null || b === null) return false;
  return (isYear(a) && b.frequency === 'day') || (isYear(b) && a.frequency === 'day');
}

function isYear({ frequency, key }: Period): boolean {
  return frequency === 'year' && key.length === 4;
}

/** The name of a row's period some years later; a period that no rule parses is the same in every year. */
function shiftedKey(row: ObservationRecord, yearsLater: number): string {
  const period = periodOf(row);
  if (period === null || yearsLater === 0) return periodKeyOf(row);
  return shiftedPeriod(period, yearsLater)?.key ?? '';
}

/** The years of the figures, for a warning; null if there are none. */
function yearsIn(rows: Series, { locationName }: ObservationRecord): string | null {
  const years = rows.filter((row) => row.locationName === locationName).map(({ year }) => year);
  if (years.length === 0) return null;
  const [first, last] = [years.reduce((a, b) => Math.min(a, b)), years.reduce((a, b) => Math.max(a, b))];
  return first === last ? `${first}` : `${first} to ${last}`;
}

/** The change of a figure against an earlier one, in their unit. */
export function changeOf(row: ObservationRecord, earlier: ObservationRecord): number | Misfit {
  return misfitOfUnits(row, earlier) ?? finite(differenceOf(row.value, earlier.value));
}

/** The growth of a figure, in percent of an earlier one. */
export function growthOf(row: ObservationRecord, earlier: ObservationRecord): number | Misfit {
  const misfit = misfitOfUnits(row, earlier);
  if (misfit !== null) return misfit;
  if (earlier.value <= 0) {
    const words = `${nameOfFigure(earlier)} is ${earlier.value}, and growth in percent of that says nothing`;
    return new Misfit('base', words);
  }
  return finite(percentAbove(row.value, earlier.value));
}

/** A figure divided by another. */
export function quotientOf(row: ObservationRecord, divisor: ObservationRecord): number | Misfit {
  if (divisor.value === 0)
    return new Misfit('zero', `${nameOfFigure(divisor)} is 0, and nothing can be divided by it`);
  return finite(decimalQuotientOf(row.value, divisor.value));
}

function misfitOfUnits(row: ObservationRecord, other: ObservationRecord): Misfit | null {
  if (row.unit === other.unit) return null;
  return new Misfit(
    'unit',
    `${nameOfFigure(row)} is in ${row.unit}, ${nameOfFigure(other)} in ${other.unit}`,
  );
}

function finite(value: number): number | Misfit {
  return Number.isFinite(value) ? value : new Misfit('size', 'the result is beyond what a number holds');
}

function nameOfFigure({ countryCode, metricKey, year }: ObservationRecord): string {
  return `${countryCode} ${metricKey} of ${year}`;
}

type Derived<Args, Value> = BatchResolver<ObservationRecord, Args, GraphContext, Value | null>;

/** Warns of figures that can't be compared, once per kind, country and indicator. */
type Warn = (
  row: ObservationRecord,
  parent: number,
  misfit: Misfit,
  outcome?: 'is null' | 'needs care',
) => null;

function warningOf({ warnings }: GraphContext, info: BatchInfo): Warn {
  const code = 'NOT_COMPARABLE';
  const field = info.fieldNodes[0]?.alias?.value ?? info.fieldName;
  return ({ countryCode, metricKey }, parent, { kind, words }, outcome = 'is null') => {
    const subject = `${field} ${countryCode} ${metricKey} ${kind}`;
    warnings.addOf(code, subject, () => ({
      code,
      message: `\`${info.fieldName}\` ${outcome}: ${words}.`,
      path: responsePathAsArray(info.pathOf(parent)),
    }));
    return null;
  };
}

/** Warns of figures that would be candidates for comparison if their periods could be parsed. */
function warnedOfOperands(
  outcomes: readonly Outcome[],
  context: GraphContext,
  info: BatchInfo,
): PromiseOrValue<readonly Outcome[]> {
  if (!mayBeUnreadable()) return outcomes;
  const warning = madeInTurns(context, [...new Set(outcomes)], (outcome) => {
    if (!(outcome instanceof Error)) warnedOfPeriods(context, () => info.pathOf(0), outcome);
  });
  return mapValue(warning, () => outcomes);
}

function wantedFor(
  { countryCode, metricKey, period, locationName }: ObservationRecord,
  year: number,
  otherKeys: { readonly countryCode?: string; readonly metricKey?: string } = {},
): WantedFigure {
  const pair = { countryCode, metricKey, ...otherKeys };
  // Its name is looked up several times for each of a great many.
  const key = pairKey(pair.countryCode, pair.metricKey);
  return { ...pair, pairKey: key, year, period, isNational: locationName === null };
}

/** The loaded rows comparable with a figure; an Error if they could not be loaded. */
type Counterpart = Matching | Misfit | Error | null;

/** The figure to compare another one with. */
type Operand = ObservationRecord | Misfit | Error | null;

/** A figure that another is to be compared with. */
interface Comparison {
  readonly wanted: WantedFigure;
  readonly counterpart: Counterpart;
}

const findIn = (outcome: Outcome, row: ObservationRecord, year: number): Counterpart =>
  outcome instanceof Error ? outcome : matching(outcome, row, year);

type LatestByPair = ReadonlyMap<string, ObservationRecord | Error | null>;

const NONE_ASKED: LatestByPair = new Map();

const mayBeLatest = (counterpart: Counterpart) =>
  counterpart instanceof Object && 'mayBeLatest' in counterpart && counterpart.mayBeLatest;

/** The service's own choice, for pairs with several figures that may be the latest. */
function latestOf(
  comparisons: readonly Comparison[],
  { bill, loaders }: GraphContext,
): PromiseOrValue<LatestByPair> {
  const pairs = new Map<string, WantedFigure>();
  for (const { wanted, counterpart } of comparisons)
    if (mayBeLatest(counterpart)) pairs.set(keyOfPair(wanted), wanted);
  if (pairs.size === 0) return NONE_ASKED;
  bill.naive += pairs.size;
  return mapValue(loaders.observations.operands().latest([...pairs.values()]), (latest) => {
    return new Map([...pairs.keys()].map((pair, i) => [pair, latest[i] ?? null]));
  });
}

/**
 * The figure that a figure is compared with.
 * @param onSeveral called if the service has chosen it among several
 */
function operandIn(
  { wanted, counterpart }: Comparison,
  row: ObservationRecord,
  latest: LatestByPair,
  onSeveral: (operand: ObservationRecord, sources: readonly string[]) => void,
): Operand {
  if (counterpart === null || counterpart instanceof Misfit || counterpart instanceof Error)
    return counterpart;
  const chosen = counterpart.mayBeLatest ? (latest.get(keyOfPair(wanted)) ?? null) : null;
  if (chosen instanceof Error) return chosen;
  const operand = decided(counterpart, row, chosen);
  if (operand === chosen && chosen !== null) onSeveral(chosen, sourcesOf(counterpart.rows));
  return operand;
}

/** Warns of operands that the service has chosen among several. */
function severalWarning(context: GraphContext, info: BatchInfo, parent: number) {
  return (operand: ObservationRecord, sources: readonly string[]) =>
    warnOfSeveral(context, () => info.pathOf(parent), operand, { sources, isByRule: false });
}

/** The figures that the rows are compared with, in their order. */
function operandsOf(
  rows: readonly ObservationRecord[],
  wanted: readonly WantedFigure[],
  outcomes: readonly Outcome[],
  context: GraphContext,
  warn: (i: number) => ReturnType<typeof severalWarning>,
): PromiseOrValue<readonly Operand[]> {
  const finding = madeInTurns(context, rows, (row, i): Comparison => {
    const one = wanted[i] as WantedFigure;
    return { wanted: one, counterpart: findIn(outcomes[i] ?? [], row, one.year) };
  });
  return mapValue(finding, (comparisons) =>
    mapValue(latestOf(comparisons, context), (latest) =>
      madeInTurns(context, rows, (row, i) => operandIn(comparisons[i] as Comparison, row, latest, warn(i))),
    ),
  );
}

/** How values are derived from figures, each with another one. */
interface Derivation<Value> {
  readonly wantedFor: (row: ObservationRecord) => WantedFigure;
  readonly load: (wanted: readonly WantedFigure[]) => PromiseOrValue<readonly Outcome[]>;
  /** The misfit to warn of if no figure that has come is comparable; null if there is nothing to say. */
  readonly gapIn: (series: Series, row: ObservationRecord) => Misfit | null;
  readonly derive: (row: ObservationRecord, operand: ObservationRecord, parent: number) => Value | Misfit;
}

/** @param parentOf the object whose field derives from a row, by the row's index */
function valuesOf<Value>(
  rows: readonly ObservationRecord[],
  parentOf: (i: number) => number,
  { wantedFor, load, gapIn, derive }: Derivation<Value>,
  context: GraphContext,
  info: BatchInfo,
): PromiseOrValue<readonly (Value | Error | null)[]> {
  const warn = warningOf(context, info);
  const warnOfOperand = (i: number) => severalWarning(context, info, parentOf(i));
  const valuesBy = (wanted: readonly WantedFigure[], outcomes: readonly Outcome[]) =>
    mapValue(operandsOf(rows, wanted, outcomes, context, warnOfOperand), (operands) =>
      madeInTurns(context, rows, (row, i) => {
        const outcome = outcomes[i] ?? [];
        const operand = operands[i] ?? (outcome instanceof Error ? null : gapIn(outcome, row));
        if (operand === null || operand instanceof Error) return operand;
        const value = operand instanceof Misfit ? operand : derive(row, operand, parentOf(i));
        return value instanceof Misfit ? warn(row, parentOf(i), value) : value;
      }),
    );
  return mapValue(madeInTurns(context, rows, wantedFor), (wanted) =>
    mapValue(load(wanted), (outcomes) =>
      mapValue(warnedOfOperands(outcomes, context, info), () => valuesBy(wanted, outcomes)),
    ),
  );
}

/** Compares figures with earlier ones of the same country, indicator and place. */
function compared(
  compare: (row: ObservationRecord, earlier: ObservationRecord) => number | Misfit,
): Derived<ObservationChangeArgs, number> {
  return (rows, { since }, context, info) => {
    checkSince(since);
    context.bill.naive += rows.length;
    const warn = warningOf(context, info);
    const yearFor = ({ year }: ObservationRecord) => since ?? year - 1;
    const parents = rows.flatMap(({ year }, parent) => (since == null || since < year ? [parent] : []));
    const parentRows = parents.map((parent) => rows[parent] as ObservationRecord);
    const derivation: Derivation<number> = {
      wantedFor: (row) => wantedFor(row, yearFor(row)),
      load: context.loaders.observations.operands().series,
      gapIn: (series, row) => gapIn(series, row, yearFor(row)),
      derive(row, earlier, parent) {
        const value = compare(row, earlier);
        if (!(value instanceof Misfit) && earlier.source !== row.source) {
          const words = `the figures of ${earlier.year} and ${row.year} are of different sources, ${earlier.source} and ${row.source}`;
          warn(row, parent, new Misfit('source', words), 'needs care');
        }
        return value;
      },
    };
    const deriving = valuesOf(parentRows, (i) => parents[i] as number, derivation, context, info);
    return mapValue(deriving, (values) => {
      const byParent = new Map(parents.map((parent, i) => [parent, values[i]]));
      return rows.map((_, parent) => byParent.get(parent) ?? null);
    });
  };
}

/** The misfit to warn of if a year has no figure, but earlier years have; otherwise null. */
function gapIn(rows: Series, row: ObservationRecord, year: number): Misfit | null {
  const rowsBefore = rows.filter((one) => one.year < year);
  const earlier = yearsIn(rowsBefore, row);
  if (earlier === null) return null;
  const { countryCode, metricKey } = row;
  return new Misfit(
    'gap',
    `${countryCode} ${metricKey} has earlier figures (${earlier}), and none of ${year}`,
  );
}

const per: Derived<ObservationPerArgs, ResolversParentTypes['Ratio']> = (
  rows,
  { metricKey },
  context,
  info,
) => {
  checkMetricKey(metricKey);
  context.bill.naive += rows.length;
  const { preferLatest } = context.loaders.observations.operands();
  const existing = existingNames('metrics', context, () => info.pathOf(0), [metricKey]);
  return mapValue(existing, ([key]) => {
    if (key === undefined) return rows.map(() => null);
    const derivation: Derivation<ResolversParentTypes['Ratio']> = {
      wantedFor: (row) => wantedFor(row, row.year, { metricKey: key }),
      load: preferLatest,
      gapIn: (series, row) => yearsApart(series, row, key),
      derive(row, divisor) {
        const value = quotientOf(row, divisor);
        if (value instanceof Misfit) return value;
        const unit = `${row.unit} / ${divisor.unit}`;
        return { value, unit, year: row.year, operands: [row, divisor] };
      },
    };
    return valuesOf(rows, (parent) => parent, derivation, context, info);
  });
};

/** The misfit to warn of if the year has no divisor, but other years have; otherwise null. */
function yearsApart(rows: Series, row: ObservationRecord, metricKey: string): Misfit | null {
  const otherYears = yearsIn(rows, row);
  if (otherYears === null) return null;
  const words = `${row.countryCode} ${metricKey} has figures of other years (${otherYears}), and none of ${row.year}`;
  return new Misfit('years', words);
}

/** Figures of the same indicator, time and place, which are ranked among the same rivals. */
interface RankGroup {
  readonly rows: ObservationRecord[];
  readonly wanted: readonly WantedFigure[];
}

const rank: Derived<ObservationRankArgs, Rank> = (rows, { among, direction }, context, info) => {
  context.bill.naive += rows.length;
  const warn = warningOf(context, info);
  const existing =
    among == null
      ? [...COVERED_COUNTRIES]
      : existingNames('countries', context, () => info.pathOf(0), [...new Set(among)]);
  const sign = direction === 'ASC' ? -1 : 1;
  const operands = context.loaders.observations.operands();
  return mapValue(existing, (codes) => {
    const groups = new Map<string, RankGroup>();
    const grouping = madeInTurns(context, rows, (row) => {
      if (!isNational(row)) return;
      const group = groups.get(groupOf(row));
      if (group !== undefined) group.rows.push(row);
      else {
        const wanted = codes.map((countryCode) => wantedFor(row, row.year, { countryCode }));
        groups.set(groupOf(row), { rows: [row], wanted });
      }
    });
    return mapValue(grouping, () => {
      const wanted = [...groups.values()].flatMap((group) => group.wanted);
      const answered = operands.preferLatest(wanted);
      const settled = among == null ? withoutUnlisted(wanted, answered, context) : answered;
      return mapValue(settled, (outcomes) => {
        const byWanted = new Map(wanted.map((one, i) => [one, outcomes[i] ?? []]));
        return mapValue(warnedOfOperands(outcomes, context, info), () => ranksBy(groups, byWanted));
      });
    });
  });

  function ranksBy(groups: ReadonlyMap<string, RankGroup>, outcomes: ReadonlyMap<WantedFigure, Outcome>) {
    const named = [...groups];
    const comparing = madeInTurns(context, named, ([, group]) => comparisonsOf(group, outcomes));
    return mapValue(comparing, (comparisons) =>
      mapValue(latestOf(comparisons.flat(), context), (latest) => {
        const rivals = new Map(
          named.map(([name, group], i) => [name, rivalsOf(group, comparisons[i] ?? [], latest)]),
        );
        return madeInTurns(context, rows, (row, parent) => {
          const rivalsFor = rivals.get(groupOf(row));
          if (!isNational(row) || rivalsFor === undefined) return warn(row, parent, OF_PLACE);
          const ranked = rankOf(row, rivalsFor(row, severalWarning(context, info, parent)), sign);
          return ranked instanceof Misfit ? warn(row, parent, ranked) : ranked;
        });
      }),
    );
  }
};

/** A covered country that the service refuses and does not list has no figures; no caller named it, so it is no error. */
function withoutUnlisted(
  wanted: readonly WantedFigure[],
  answered: PromiseOrValue<readonly Outcome[]>,
  { loaders }: GraphContext,
): PromiseOrValue<readonly Outcome[]> {
  const isRefused = (outcome: Outcome) => outcome instanceof Failure && outcome.code === 'BAD_USER_INPUT';
  return mapValue(answered, (outcomes) => {
    if (!outcomes.some(isRefused)) return outcomes;
    return mapValue(listedCountries(loaders), (listed) => {
      if (listed === null) return outcomes;
      loaders.servedBy(listed);
      const isUnlisted = (i: number) => !listed.has(wanted[i]?.countryCode ?? '');
      return outcomes.map((outcome, i) => (isRefused(outcome) && isUnlisted(i) ? [] : outcome));
    });
  });
}

/** The countries of the service's list, if that is complete; loaded unless it is cached. */
async function listedCountries(loaders: GraphContext['loaders']) {
  const cachedNames = await loaders.cachedNames('countries');
  if (cachedNames !== null) return cachedNames;
  try {
    await loaders.countries();
  } catch {
    return null;
  }
  return loaders.cachedNames('countries');
}

const OF_PLACE = new Misfit('place', 'the figure is that of a place, which is not ranked among countries');

const groupOf = ({ metricKey, year, period }: ObservationRecord) => `${metricKey} ${year} ${period}`;

/** The rows of each country that are comparable with the figures of a group; null for the group's own country, if it has but one. */
function comparisonsOf(
  { rows, wanted }: RankGroup,
  outcomes: ReadonlyMap<WantedFigure, Outcome>,
): readonly Comparison[] {
  const [first] = rows as [ObservationRecord];
  const isOfOne = rows.every(({ countryCode }) => countryCode === first.countryCode);
  return wanted.map((one) => {
    const isOwn = isOfOne && one.countryCode === first.countryCode;
    return { wanted: one, counterpart: isOwn ? null : findIn(outcomes.get(one) ?? [], first, first.year) };
  });
}

/** A country with its figure for the ranking, or the reason why it has none. */
interface Rival {
  readonly countryCode: string;
  readonly figure: ObservationRecord | Misfit | Error;
}

/**
 * The rivals of each figure of a group. Within a group they differ by source and release only, and only if some rival
 * has several figures, none of which is its latest.
 */
function rivalsOf({ rows }: RankGroup, comparisons: readonly Comparison[], latest: LatestByPair) {
  const isPlain = comparisons.every(
    ({ counterpart: one }) => one === null || !('rows' in one) || one.rows.length === 1,
  );
  const rivalsByRelease = new Map<string, readonly Rival[]>();
  return (row: ObservationRecord, onSeveral: Parameters<typeof operandIn>[3]): readonly Rival[] => {
    const name = isPlain || rows.length === 1 ? '' : JSON.stringify([row.source, row.datasetVersion]);
    let rivals = rivalsByRelease.get(name);
    if (rivals === undefined) {
      rivals = comparisons.flatMap((one) => {
        const figure = operandIn(one, row, latest, onSeveral);
        return figure === null ? [] : [{ countryCode: one.wanted.countryCode, figure }];
      });
      rivalsByRelease.set(name, rivals);
    }
    return rivals;
  };
}

/**
 * The rank of a figure among those of other countries.
 * @param sign 1 if the largest figure comes first
 */
function rankOf(row: ObservationRecord, rivals: readonly Rival[], sign: 1 | -1): Rank | Misfit | Error {
  let [position, of] = [1, 1];
  for (const { countryCode, figure } of rivals) {
    if (countryCode === row.countryCode) continue;
    if (!('value' in figure)) return figure;
    const misfit = misfitOfUnits(row, figure);
    if (misfit !== null) return misfit;
    of += 1;
    if (sign * (figure.value - row.value) > 0) position += 1;
  }
  return { position, of, year: row.year };
}

/** Resolvers of the fields derived from figures, each for many figures at once. */
export const derived = { change: compared(changeOf), growthPercent: compared(growthOf), per, rank };
