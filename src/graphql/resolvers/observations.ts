import {
  type FieldNode,
  type GraphQLField,
  type GraphQLResolveInfo,
  getArgumentValues,
  getNamedType,
  isObjectType,
} from 'graphql';
import type { ObservationLoader } from '../../observations/loaders/observations.ts';
import {
  type Demand,
  demandFor,
  type Mode,
  type YearRange,
  yearRange,
} from '../../observations/planner/demand.ts';
import type { Dimension } from '../../observations/planner/learned.ts';
import { areCopies, newestOf, periodKeyOf } from '../../observations/planner/newest.ts';
import { COVERED_COUNTRIES } from '../../service/records/countries.ts';
import type { ObservationRecord } from '../../service/records/observations.ts';
import { loadedOnce, mapValue, type PromiseOrValue, promiseTry } from '../../shared/async/turns.ts';
import { Failure } from '../../shared/errors.ts';
import { numberOf } from '../../shared/exact-json.ts';
import type { BatchInfo, BatchResolver } from '../execution/plan.ts';
import type { CountryRef, GraphContext, IndicatorRef, SourceRef } from '../schema/context.ts';
import type { ObservationScope, Resolvers } from '../schema/generated.ts';
import {
  fieldsBelow,
  type RowsField,
  rowTypeOf,
  type SelectionScope,
  scopeOfRows,
  selectedFields,
} from '../schema/selection.ts';
import { plainFields } from './fields.ts';
import { byCode, byNumber, createListing, encodeId } from './lists.ts';
import {
  checkMetricKey,
  checkSince,
  existingNames,
  maxAgeMsOf,
  warnedFigures,
  warnedOfPeriods,
  warnedOnceLoaded,
  warnOfCountries,
  warnOfStates,
} from './warned.ts';

/*
 * The text of the operation tells which figures others are compared with, before they are there. So these are asked for
 * with them, and travel in the same call.
 */

/** A derived field of the figures of a field, with its arguments as far as they fit. */
interface DerivedField extends DerivedArguments {
  readonly name: string;
}

interface DerivedArguments {
  readonly since?: number | null;
  readonly metricKey?: string;
  readonly among?: readonly string[] | null;
}

interface FiguresAsked {
  readonly mode: Mode;
  readonly countryCodes: readonly string[];
  readonly metricKeys: readonly string[];
  readonly years: YearRange | null;
  readonly maxAgeMs: number;
}

const DERIVED = ['change', 'growthPercent', 'per', 'rank'] as const;

const NONE: readonly DerivedField[] = [];

/** Most series that are asked for whole with latest figures: about one call. Of more, only the years needed are. */
const MAX_PREFETCHED_SERIES = 12;

/**
 * The derived fields that are selected of the figures of a field.
 * @throws Failure BAD_USER_INPUT if their arguments make no sense: before anything is asked for
 */
export function derivedOf(field: RowsField): readonly DerivedField[] {
  const scope = scopeOfRows(field);
  const named = getNamedType(field.returnType);
  const type = rowTypeOf(named) ?? named;
  if (!isObjectType(type) || type.name !== 'Observation') return NONE;
  const names = selectedFields(scope, type.name);
  if (!DERIVED.some((name) => names.has(name))) return NONE;
  const fields = type.getFields();
  return fieldsBelow(scope, type)
    .flat()
    .flatMap((node) => {
      const definition = fields[node.name.value];
      if (definition === undefined || !DERIVED.some((name) => name === definition.name)) return [];
      const args = argumentsOf(definition, node, scope);
      if (args === null) return [];
      checkSince(args.since);
      if (args.metricKey !== undefined) checkMetricKey(args.metricKey);
      return [{ ...args, name: definition.name }];
    });
}

function argumentsOf(
  definition: GraphQLField<unknown, unknown>,
  node: FieldNode,
  { variableValues }: SelectionScope,
): DerivedArguments | null {
  try {
    return getArgumentValues(definition, node, variableValues);
  } catch {
    // Execution will report the error in them.
    return null;
  }
}

/** The latest national figures of some countries, asked for with those to compare with. */
export function latestFigures(
  derived: readonly DerivedField[],
  countryCodes: readonly string[],
  metricKey: string,
  maxAgeMs: number,
  context: GraphContext,
): ReturnType<ObservationLoader['nationals']> {
  prefetchLatest(derived, countryCodes, metricKey, maxAgeMs, context);
  return context.loaders.observations.nationals(countryCodes, metricKey, maxAgeMs);
}

/** Asks for the figures to compare the latest ones of some countries with. */
export function prefetchLatest(
  derived: readonly DerivedField[],
  countryCodes: readonly string[],
  metricKey: string,
  maxAgeMs: number,
  context: GraphContext,
): void {
  const asked = { mode: 'latest', countryCodes, metricKeys: [metricKey], years: null, maxAgeMs } as const;
  prefetchDerived(derived, asked, context);
}

/** Asks for the figures to compare with, before the derived fields do. */
function prefetchDerived(derived: readonly DerivedField[], asked: FiguresAsked, context: GraphContext): void {
  for (const field of derived) {
    const { name, metricKey, among } = field;
    if (name === 'per' && metricKey !== undefined) {
      const pairs = { countryCodes: asked.countryCodes, metricKeys: [metricKey] };
      existingOf('metrics', [metricKey], context, () => ask({ ...asked, ...pairs }, context));
    } else if (name === 'rank') {
      const askFor = (countryCodes: readonly string[]) => ask({ ...asked, countryCodes }, context);
      // The covered countries are asked for whether or not the list has them: the field wants them all.
      if (among == null) askFor([...COVERED_COUNTRIES]);
      else existingOf('countries', [...new Set(among)], context, askFor);
    } else {
      const { since } = field;
      if (since != null) ask({ ...asked, mode: 'series', years: yearRange(since, since) }, context);
      else if (asked.mode === 'series' || areFew(asked)) ask({ ...asked, mode: 'series' }, context);
    }
  }
}

function areFew({ countryCodes, metricKeys }: FiguresAsked): boolean {
  return countryCodes.length * metricKeys.length <= MAX_PREFETCHED_SERIES;
}

function ask(asked: FiguresAsked, { loaders }: GraphContext): void {
  const { countryCodes, metricKeys, years, maxAgeMs } = asked;
  // The figure to compare with may be older than the latest one; a series holds it.
  const mode = areFew(asked) ? 'series' : asked.mode;
  const demands: Demand[] = countryCodes.flatMap((code) =>
    metricKeys.map((key) => demandFor(mode, code, key, maxAgeMs, years)),
  );
  loaders.observations.operands.prefetch(demands);
}

/** Goes on with the names that may have figures. The derived field itself warns of the others. */
function existingOf(
  dimension: Dimension,
  names: readonly string[],
  { loaders, batchGate }: GraphContext,
  goOn: (names: readonly string[]) => void,
): void {
  const listed = loaders.listed[dimension];
  if (names.every((name) => listed.has(name))) {
    goOn(names);
    return;
  }
  const finding = mapValue(loaders.cachedNames(dimension), (cachedNames) => {
    const existingNames = cachedNames === null ? names : names.filter((name) => cachedNames.has(name));
    if (existingNames.length > 0) goOn(existingNames);
  });
  // If it can't be asked for now, the derived field asks for it, and fails by itself.
  if (finding instanceof Promise) batchGate.closeDuring(finding).catch(() => {});
}

/** Parts of a key that tell a figure: they hold if the service revises the row, under another release or status. */
const LASTING_PARTS = 7;

/**
 * The parts that tell a row from the others of its country and metric. They are those of the row alone, so that it has
 * one identifier wherever it stands, and none of them is its value or its time of retrieval, which each run of its
 * source may change.
 */
function keyOf(row: ObservationRecord): readonly string[] {
  const { countryCode, metricKey, year, period, asOfPeriod, locationName, source } = row;
  const { datasetVersion, valueStatus, unit } = row;
  const lasting = [
    countryCode,
    metricKey,
    String(year),
    period,
    asOfPeriod ?? '',
    locationName ?? '',
    source,
  ];
  return [...lasting, datasetVersion ?? '', valueStatus, unit];
}

export function observationId(row: ObservationRecord): string {
  return encodeId('Observation', ...keyOf(row));
}

/**
 * Names that the rows of a list have each of its own: those that share an identifier, as copies and earlier values of
 * one figure do, are counted in the order of the list.
 */
export function observationNames(rows: readonly ObservationRecord[]): string[] {
  const counts = new Map<string, number>();
  return rows.map((row) => {
    const id = observationId(row);
    const before = counts.get(id) ?? 0;
    counts.set(id, before + 1);
    return before === 0 ? id : encodeId('Observation', ...keyOf(row), String(before));
  });
}

/** The identifiers of rows, with a warning of those that share one though they say different things. */
function identified(
  rows: readonly ObservationRecord[],
  _: unknown,
  context: GraphContext,
  info: BatchInfo,
): readonly string[] {
  const ids = rows.map(observationId);
  const owners = new Map<string, ObservationRecord>();
  for (const [i, row] of rows.entries()) {
    const id = ids[i] as string;
    const owner = owners.get(id);
    if (owner === undefined) owners.set(id, row);
    // An answer that came later may have revised it.
    else if (owner.fetchedAtMs === row.fetchedAtMs && !areCopies(owner, row))
      warnOfStates(context, () => info.pathOf(i), row);
  }
  return ids;
}

/** The row of an identifier, and if it is another one than was named: the service has revised that. */
interface FoundFigure {
  readonly row: ObservationRecord;
  readonly isRevised: boolean;
}

/**
 * Finds the row of an identifier in its series. If the service has none of that release, status or unit any more, or
 * spells the period otherwise, it is the newest row of the same figure. Identifiers of earlier versions of the gateway
 * have fewer parts.
 */
export function observationOf(
  key: readonly string[],
  rows: readonly ObservationRecord[],
): FoundFigure | null {
  const lasting = rows.filter((row) => isLike(row, key, LASTING_PARTS));
  const isWhole = key.length > LASTING_PARTS + 2;
  const isEarlier = !isWhole && (key[LASTING_PARTS] ?? '') === '';
  const exact = isEarlier
    ? newestOf(lasting)
    : newestOf(lasting.filter((row) => isLike(row, key, isWhole ? LASTING_PARTS + 3 : LASTING_PARTS + 1)));
  if (exact !== null) return { row: exact, isRevised: false };
  const [, , year = '', period = '', , place = '', source = ''] = key;
  const ofPeriod = periodKeyOf({ year: numberOf(year) ?? Number.NaN, period });
  const isOfFigure = (row: ObservationRecord) =>
    row.source === source &&
    (row.locationName ?? '') === place &&
    String(row.year) === year &&
    periodKeyOf(row) === ofPeriod;
  const row = newestOf(lasting) ?? newestOf(rows.filter(isOfFigure));
  return row === null ? null : { row, isRevised: true };
}

function isLike(row: ObservationRecord, key: readonly string[], parts: number): boolean {
  const ownKey = keyOf(row);
  for (let i = 0; i < parts; i += 1) if (ownKey[i] !== key[i]) return false;
  return true;
}

export interface ObservationFilter {
  readonly countryCodes?: readonly string[] | null | undefined;
  /** Null or omitted: the whole catalogue. */
  readonly metricKeys?: readonly string[] | null | undefined;
  readonly latest?: boolean | null | undefined;
  /** The kind of names that are those of an object: these are asked for, also against the lists. */
  readonly ofObject?: Dimension;
  /** Null or omitted: all. */
  readonly scope?: ObservationScope | null | undefined;
  readonly fromYear?: number | null | undefined;
  readonly toYear?: number | null | undefined;
  /** The oldest age that a cached figure may have, in seconds; null or omitted: the usual age. */
  readonly maxAge?: number | null | undefined;
}

/** What is asked for of each country and metric, and the rows taken of it. */
type AskedRows = { readonly maxAgeMs: number; readonly derived: readonly DerivedField[] } & (
  | {
      /** The service's own choice; or, of the whole country, the newest row though that of a place may be newer. */
      readonly take: 'latest';
      readonly mode: 'latest';
      readonly years: null;
      readonly isNational: boolean;
    }
  /** The newest row that fits, which is seldom the newest of all, and stands in the series: or all that fit. */
  | {
      readonly take: 'newest that fits' | 'all that fit';
      readonly mode: 'series';
      readonly years: YearRange | null;
    }
);

/** @throws Failure BAD_USER_INPUT if the arguments make no sense */
function askedBy(filter: ObservationFilter, field: RowsField): AskedRows {
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

/** Asks for the figures to compare with; returns what loaders are to bring of some countries and metrics. */
function wantedOf(
  { mode, years, maxAgeMs, derived, ...asked }: AskedRows,
  countryCodes: readonly string[],
  metricKeys: readonly string[],
  context: GraphContext,
) {
  const wanted = {
    mode,
    years,
    maxAgeMs,
    countryCodes: unique(countryCodes),
    metricKeys: unique(metricKeys),
  };
  if (derived.length > 0) prefetchDerived(derived, wanted, context);
  return { ...wanted, isNational: asked.take === 'latest' && asked.isNational };
}

/**
 * Asks for the rows that {@link observationRows} will want of some countries, before these are there.
 * @returns settles once they have come, and is never rejected; undefined if they are at hand
 */
export function prefetchRows(
  filter: ObservationFilter,
  codes: readonly string[],
  keys: readonly string[],
  context: GraphContext,
  field: RowsField,
  isGuess: boolean,
): Promise<unknown> | undefined {
  const wanted = wantedOf(askedBy(filter, field), codes, keys, context);
  return context.loaders.observations.prefetch(wanted, isGuess);
}

/**
 * The rows of every named country and metric, in the order of the names.
 * @param field field whose selection shows the fields derived of the rows
 * @throws Failure BAD_USER_INPUT before anything is asked for, if the arguments make no sense
 */
export function observationRows(
  filter: ObservationFilter,
  context: GraphContext,
  info: GraphQLResolveInfo,
  field: RowsField = info,
): PromiseOrValue<readonly ObservationRecord[]> {
  const asked = askedBy(filter, field);
  const choose = choiceOf(asked, filter, context, info);
  const load = ([codes, keys]: Names) =>
    context.loaders.observations.rows(wantedOf(asked, codes, keys, context), choose);
  const names = namesBy(filter, context, info);
  const loading = () =>
    names instanceof Promise ? context.batchGate.closeDuring(names).then(load) : load(names);
  const rows = context.absences?.rows({ ...asked, filter, names }, loading, info.path, context) ?? loading();
  return warnedFigures(context, () => info.path, rows, asked.take !== 'all that fit');
}

type Names = readonly [countryCodes: readonly string[], metricKeys: readonly string[]];

/** Finds the countries and metrics that a filter names, or all that there are. */
function namesBy(
  { countryCodes, metricKeys, ofObject }: ObservationFilter,
  context: GraphContext,
  info: GraphQLResolveInfo,
): PromiseOrValue<Names> {
  const { loaders } = context;
  // A list that hasn't gone by has no names at all.
  const { countries } = loaders.listed;
  const unlisted = countries.size === 0 ? [] : (countryCodes ?? []).filter((code) => !countries.has(code));
  if (unlisted.length > 0) warnOfCountries(context, info.path, unlisted);
  const path = () => info.path;
  const partial = (dimension: Dimension, names: readonly string[]) =>
    ofObject === dimension ? names : existingNames(dimension, context, path, names);
  const codes =
    (countryCodes && partial('countries', countryCodes)) ??
    mapValue(warnedOnceLoaded(context, info, loaders.countries()), (list) => list.map(({ code }) => code));
  // By now the codes may be a promise that nobody listens to yet.
  const keys = promiseTry(
    () =>
      (metricKeys && partial('metrics', metricKeys)) ??
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
  if (take !== 'newest that fits') return (rows) => chosen(rows, filter);
  // Once rows are there, it is the turn of other objects.
  const { path } = info;
  return (rows) => {
    const some = warnedOfPeriods(context, () => path, chosen(rows, filter));
    const newest = context.loaders.observations.newest(some);
    return newest === null ? [] : [newest];
  };
}

function chosen(
  rows: readonly ObservationRecord[],
  { fromYear, toYear, scope }: ObservationFilter,
): readonly ObservationRecord[] {
  const isAny = scope == null || scope === 'ALL';
  if (fromYear == null && toYear == null && isAny) return rows;
  return rows.filter(
    ({ year, locationName }) =>
      (fromYear == null || year >= fromYear) &&
      (toYear == null || year <= toYear) &&
      (isAny || (scope === 'NATIONAL') === (locationName === null)),
  );
}

function unique(names: readonly string[]): readonly string[] {
  return names.length < 2 ? names : [...new Set(names)];
}

const citations = loadedOnce(() => import('../../shared/citations.ts'));

type DerivedFields = typeof import('./derived.ts').derived;

const derivedFields = loadedOnce(async () => (await import('./derived.ts')).derived);

function derived<Name extends keyof DerivedFields>(name: Name): DerivedFields[Name] {
  // Their arguments go with their names.
  return ((figures: never, args: never, context: GraphContext, info: never) =>
    derivedFields(context, (loaded) => loaded[name](figures, args, context, info))) as DerivedFields[Name];
}

/** Makes the parents of rows: one for a run of rows that have it in common, as those of a series have. */
function inRuns<Source>(
  isSame: (row: ObservationRecord, before: ObservationRecord) => boolean,
  make: (row: ObservationRecord) => Source,
): BatchResolver<ObservationRecord, unknown, GraphContext, Source> {
  return (rows) => {
    const sources: Source[] = [];
    for (let i = 0; i < rows.length; i += 1) {
      const row = rows[i] as ObservationRecord;
      const before = rows[i - 1];
      sources.push(before !== undefined && isSame(row, before) ? (sources[i - 1] as Source) : make(row));
    }
    return sources;
  };
}

export const batches = {
  Observation: {
    id: identified,
    change: derived('change'),
    growthPercent: derived('growthPercent'),
    per: derived('per'),
    rank: derived('rank'),
    country: inRuns<CountryRef>(
      (row, before) => row.countryCode === before.countryCode && row.countryName === before.countryName,
      ({ countryCode, countryName }) => ({
        code: countryCode,
        partial: countryName === null ? {} : { name: countryName },
      }),
    ),
    indicator: inRuns<IndicatorRef>(
      (row, before) =>
        row.metricKey === before.metricKey &&
        row.metricName === before.metricName &&
        row.unit === before.unit,
      ({ metricKey, metricName, unit }) => ({
        key: metricKey,
        partial: metricName === null ? { unit } : { name: metricName, unit },
      }),
    ),
    source: inRuns<SourceRef>(
      (row, before) => row.source === before.source,
      ({ source }) => ({ key: source }),
    ),
  },
};

/** The year of a country and indicator: rows that are told apart by their order have it in common. */
const groupOf = ({ countryCode, metricKey, year }: ObservationRecord) =>
  `${countryCode} ${metricKey} ${year}`;

const listing = createListing(
  'Observation',
  {
    YEAR: byNumber<ObservationRecord>(({ year }) => year),
    VALUE: byNumber<ObservationRecord>(({ value }) => value),
    COUNTRY: byCode<ObservationRecord>(({ countryCode }) => countryCode),
    INDICATOR: byCode<ObservationRecord>(({ metricKey }) => metricKey),
  },
  {
    idsOf(rows, list) {
      const groups = new Set(rows.map(groupOf));
      const all = list.filter((row) => groups.has(groupOf(row)));
      const names = new Map(observationNames(all).map((name, i) => [all[i], name]));
      return rows.map((row) => names.get(row) ?? '');
    },
    find(list, { type, key }) {
      const [countryCode = '', metricKey = '', year = ''] = key;
      const group = `${countryCode} ${metricKey} ${year}`;
      const rows = list.filter((row) => row.countryCode === countryCode && groupOf(row) === group);
      const named = rows[observationNames(rows).indexOf(encodeId(type, ...key))];
      return named ?? observationOf(key, rows)?.row ?? null;
    },
  },
);

type ListArgs = ObservationFilter & Parameters<typeof listing.page>[0];

export const observationList = (args: ListArgs, context: GraphContext, info: GraphQLResolveInfo) =>
  listing.ordered(observationRows(args, context, info), args.orderBy, context);

export const observationPage = (args: ListArgs, context: GraphContext, info: GraphQLResolveInfo) =>
  listing.page(args, context, () => observationRows(args, context, info));

export const FIGURE_FIELDS = [
  'year',
  'period',
  'asOfPeriod',
  'locationName',
  'value',
  'unit',
  'valueStatus',
  'isModelled',
  'estimateLow',
  'estimateHigh',
  'datasetVersion',
  'retrievedAt',
  'record',
] as const;

export const resolvers = {
  Query: {
    observations: (_, args, context, info) => observationList(args, context, info),
    observationsConnection: (_, args, context, info) => observationPage(args, context, info),
  },
  Observation: {
    ...plainFields('Observation', ...FIGURE_FIELDS),
    citation(row, { style }, context) {
      const { citing } = context;
      const { countryCode, countryName, metricKey, metricName, locationName, period, source } = row;
      const place = [locationName, countryName ?? countryCode].filter((part) => part !== null);
      const names = new URLSearchParams({ country_code: countryCode, metric_key: metricKey });
      const cited = {
        source,
        named: citing?.sourceNames.get(source) ?? null,
        title: [metricName ?? metricKey, ...place].join(', '),
        period,
        release: row.datasetVersion,
        retrievedAt: row.retrievedAt,
        dataUrl: citing?.serviceUrl == null ? null : `${citing.serviceUrl}/v1/data?${names}`,
      };
      return citations(context, ({ citationOf }) => citationOf(cited, style));
    },
    freshness(row, _, { loaders }) {
      const reason = loaders.observations.staleness(row);
      return { fetchedAt: new Date(row.fetchedAtMs).toISOString(), stale: reason !== null, reason };
    },
  },
  Freshness: plainFields('Freshness', 'fetchedAt', 'stale', 'reason'),
  Ratio: plainFields('Ratio', 'value', 'unit', 'year', 'operands'),
  Rank: plainFields('Rank', 'position', 'of', 'year'),
} satisfies Resolvers;
