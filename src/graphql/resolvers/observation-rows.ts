import type { GraphQLResolveInfo } from 'graphql';
import type { ObservationLoader } from '../../observations/loaders/observations.ts';
import { type YearRange, yearRange } from '../../observations/planner/demand.ts';
import { filtered } from '../../observations/planner/latest.ts';
import type { Dimension } from '../../observations/planner/learned.ts';
import type { ObservationRecord } from '../../service/records/observations.ts';
import { mapValue, type PromiseOrValue, promiseTry } from '../../shared/async/promises.ts';
import { Failure } from '../../shared/errors.ts';
import { infoAt } from '../execution/field-info.ts';
import type { GraphContext } from '../schema/context.ts';
import type { ObservationScope } from '../schema/generated.ts';
import type { SelectedField } from '../schema/selection.ts';
import { checkMetricKey, maxAgeMsOf } from './argument-checks.ts';
import { existingNames } from './existing-names.ts';
import { type DerivedField, derivedOf, prefetchDerived } from './operand-prefetch.ts';
import { warnedFigures, warnedOfPeriods, warnedOnceLoaded, warnOfCountries } from './warned.ts';

export interface ObservationFilter {
  readonly countryCodes?: readonly string[] | null | undefined;
  /** Null or omitted: the whole catalogue. */
  readonly metricKeys?: readonly string[] | null | undefined;
  readonly latest?: boolean | null | undefined;
  /** The kind of names that come from the parent object; these are fetched even if the lists lack them. */
  readonly ofObject?: Dimension;
  /** Null or omitted: all. */
  readonly scope?: ObservationScope | null | undefined;
  readonly fromYear?: number | null | undefined;
  readonly toYear?: number | null | undefined;
  /** Maximum age of a cached figure, in seconds; null or omitted for the default. */
  readonly maxAge?: number | null | undefined;
}

type WantedRows = Parameters<ObservationLoader['rows']>[0];

/** What is fetched for each country and metric, and which of its rows are returned. */
type AskedRows = { readonly maxAgeMs: number; readonly derived: readonly DerivedField[] } & (
  | {
      /** The service's own choice; or the newest national row, even if one of a place is newer. */
      readonly take: 'latest';
      readonly mode: 'latest';
      readonly years: null;
      readonly isNational: boolean;
    }
  /** The newest row that matches, which needs the series since it is seldom the newest of all; or all that match. */
  | {
      readonly take: 'newest that fits' | 'all that fit';
      readonly mode: 'series';
      readonly years: YearRange | null;
    }
);

/** @throws Failure BAD_USER_INPUT if the arguments make no sense */
function askedBy(filter: ObservationFilter, field: SelectedField): AskedRows {
  const { metricKeys, latest, fromYear, toYear, scope, maxAge } = filter;
  if (fromYear != null && toYear != null && fromYear > toYear) {
    throw new Failure('BAD_USER_INPUT', `fromYear (${fromYear}) is after toYear (${toYear}).`);
  }
  for (const key of metricKeys ?? []) checkMetricKey(key);
  // Figures of places are not ranked.
  const derived = derivedOf(field).filter(({ name }) => name !== 'rank' || scope !== 'PLACES');
  const asked = { derived, maxAgeMs: maxAgeMsOf(maxAge) };
  if (latest && toYear == null && scope !== 'PLACES')
    return { ...asked, take: 'latest', mode: 'latest', years: null, isNational: scope === 'NATIONAL' };
  const isAgainstYearBefore = derived.some(
    ({ name, since }) => (name === 'change' || name === 'growthPercent') && since == null,
  );
  const firstYear = fromYear == null || !isAgainstYearBefore ? fromYear : fromYear - 1;
  const take = latest ? 'newest that fits' : 'all that fit';
  return { ...asked, take, mode: 'series', years: yearRange(firstYear, toYear) };
}

/** Loads rows of some countries and metrics. Prefetches the operands of derived fields, to share their calls. */
function loadWanted<Loaded>(
  { mode, years, maxAgeMs, derived, ...asked }: AskedRows,
  countryCodes: readonly string[],
  metricKeys: readonly string[],
  context: GraphContext,
  load: (wanted: WantedRows) => PromiseOrValue<Loaded>,
): PromiseOrValue<Loaded> {
  const figures = {
    mode,
    years,
    maxAgeMs,
    countryCodes: unique(countryCodes),
    metricKeys: unique(metricKeys),
  };
  const wanted = { ...figures, isNational: asked.take === 'latest' && asked.isNational };
  const asking = derived.length === 0 ? undefined : prefetchDerived(derived, figures, context);
  return mapValue(asking, () => load(wanted));
}

/**
 * Prefetches the rows that {@link observationRows} will load of some countries, while these are still being loaded.
 * @returns settles once they are loaded, and never rejects; undefined if they are cached
 */
export function prefetchRows(
  filter: ObservationFilter,
  codes: readonly string[],
  keys: readonly string[],
  context: GraphContext,
  field: SelectedField,
): PromiseOrValue<unknown> {
  return loadWanted(askedBy(filter, field), codes, keys, context, (wanted) =>
    context.loaders.observations.prefetch(wanted),
  );
}

/**
 * The rows of every named country and metric, in the order of the names.
 * @param field the field whose selection contains the rows' derived fields
 * @throws Failure BAD_USER_INPUT if the arguments make no sense, before any call
 */
export function observationRows(
  filter: ObservationFilter,
  context: GraphContext,
  info: GraphQLResolveInfo,
  field: SelectedField = info,
): PromiseOrValue<readonly ObservationRecord[]> {
  const asked = askedBy(filter, field);
  const choose = choiceOf(asked, filter, context, info);
  /** The names that the rows are of, for the reasons of absences. */
  let loadedNames: Names = [[], []];
  const load = ([codes, keys]: Names) => {
    loadedNames = [codes, keys];
    return loadWanted(asked, codes, keys, context, (wanted) =>
      context.loaders.observations.rows(wanted, choose),
    );
  };
  const names = namesBy(filter, context, info);
  const loadNamed = () =>
    names instanceof Promise ? context.batchGate.closeDuring(names).then(load) : load(names);
  const { path } = info;
  /** The bisection of a refusal may have loaded a list that lacks a name: then the rows of the others are the answer. */
  const loadWithoutUnknown = async (error: unknown) => {
    if (!isServiceRefusal(error)) throw error;
    const existing = await namesBy(filter, context, infoAt(info, path));
    if (existing.every((list, i) => list.length === loadedNames[i]?.length)) throw error;
    return load(existing);
  };
  const loadExisting = () => {
    const rows = promiseTry(loadNamed);
    return rows instanceof Promise ? rows.catch(loadWithoutUnknown) : rows;
  };
  const { absences, loaders } = context;
  const noted = { ...asked, filter, names: () => loadedNames };
  const rows = absences?.rows(noted, loadExisting, path, loaders.observations.outcomeOf) ?? loadExisting();
  return warnedFigures(context, () => info.path, rows, asked.take !== 'all that fit');
}

/** False for arguments that this gateway refuses, whose failures have no route. */
function isServiceRefusal(error: unknown): boolean {
  return error instanceof Failure && error.code === 'BAD_USER_INPUT' && error.fields.route !== undefined;
}

type Names = readonly [countryCodes: readonly string[], metricKeys: readonly string[]];

/** Finds the countries and metrics that a filter names, by default all of them. */
function namesBy(
  { countryCodes, metricKeys, ofObject }: ObservationFilter,
  context: GraphContext,
  info: GraphQLResolveInfo,
): PromiseOrValue<Names> {
  const { loaders } = context;
  // As long as no list has been loaded, none of the codes is known to be missing.
  const { countries } = loaders.listed;
  const unlisted = countries.size === 0 ? [] : (countryCodes ?? []).filter((code) => !countries.has(code));
  if (unlisted.length > 0) warnOfCountries(context, info.path, unlisted);
  const path = () => info.path;
  const existingOf = (dimension: Dimension, names: readonly string[]) =>
    ofObject === dimension ? names : existingNames(dimension, context, path, names);
  const codes =
    (countryCodes && existingOf('countries', countryCodes)) ??
    mapValue(warnedOnceLoaded(context, info, loaders.countries()), (list) => list.map(({ code }) => code));
  // An exception would leave a promise of the codes without a rejection handler.
  const keys = promiseTry(
    () =>
      (metricKeys && existingOf('metrics', metricKeys)) ??
      mapValue(warnedOnceLoaded(context, info, loaders.indicators()), (list) => list.map(({ key }) => key)),
  );
  return codes instanceof Promise || keys instanceof Promise ? Promise.all([codes, keys]) : [codes, keys];
}

function choiceOf(
  { take }: AskedRows,
  filter: ObservationFilter,
  context: GraphContext,
  info: GraphQLResolveInfo,
): (rows: readonly ObservationRecord[]) => readonly ObservationRecord[] {
  if (take !== 'newest that fits') return (rows) => filtered(rows, filter);
  // Read before any await: the objects of a field share one `info`, which moves on to the next (`FieldInfo`).
  const { path } = info;
  return (rows) => {
    const some = warnedOfPeriods(context, () => path, filtered(rows, filter));
    const newest = context.loaders.observations.newest(some);
    return newest === null ? [] : [newest];
  };
}

function unique(names: readonly string[]): readonly string[] {
  return names.length < 2 ? names : [...new Set(names)];
}
