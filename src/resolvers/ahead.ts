import {
  type FieldNode,
  type GraphQLField,
  type GraphQLResolveInfo,
  getArgumentValues,
  getNamedType,
  isObjectType,
} from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields.js';
import { mapValue, type PromiseOrValue } from '../async/turns.ts';
import { Failure } from '../errors.ts';
import type { GraphContext } from '../graph/context.ts';
import type { CountryObservationArgs } from '../graph/generated.ts';
import {
  asksForFigures,
  type FieldScope,
  leadsToFigures,
  marksAskedAhead,
  nodesBelow,
  perSelection,
  type RowsField,
  rowTypeOf,
  scopeOfRows,
  selectedFields,
} from '../graph/selection.ts';
import type { ObservationLoader } from '../loaders/observations.ts';
import { type Demand, demandFor, type Mode, type YearRange, yearRange } from '../plan/demand.ts';
import type { Dimension } from '../plan/learned.ts';
import { COVERED_COUNTRIES } from '../service/records/countries.ts';
import { checkMetricKey, doubtKeys, maxAgeMsOf } from './warned.ts';

/**
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

/** The figures that others are derived of. */
interface FiguresAsked {
  readonly mode: Mode;
  readonly countryCodes: readonly string[];
  readonly metricKeys: readonly string[];
  readonly years: YearRange | null;
  readonly maxAgeMs: number;
}

const DERIVED = ['change', 'growthPercent', 'per', 'rank'] as const;

const NONE: readonly DerivedField[] = [];

/**
 * Most series that are asked for whole with latest figures: about as many as one call brings. For more of them, only
 * the years that are needed are asked for, once the latest figures tell these years.
 */
const SERIES_AHEAD = 12;

/** The last year that can be compared with. */
const LAST_YEAR = 9999;

/** @throws Failure BAD_USER_INPUT if it is no year */
export function checkSince(since: number | null | undefined): void {
  if (since == null || (since >= 1 && since <= LAST_YEAR)) return;
  throw new Failure('BAD_USER_INPUT', `\`since\` is a year, such as 2015; this is ${since}.`);
}

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
  return nodesBelow(scope, type).flatMap((node) => {
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
  { variableValues }: FieldScope,
): DerivedArguments | null {
  try {
    return getArgumentValues(definition, node, variableValues);
  } catch {
    // Execution will report the error in them.
    return null;
  }
}

/** The first year to ask for, so that the figures of the wanted years can be compared with it. */
export function firstYearFor(
  derived: readonly DerivedField[],
  fromYear: number | null | undefined,
): number | null | undefined {
  return fromYear == null || !derived.some(isAgainstYearBefore) ? fromYear : fromYear - 1;
}

function isAgainstYearBefore({ name, since }: DerivedField): boolean {
  return (name === 'change' || name === 'growthPercent') && since == null;
}

/** The latest national figures of some countries, asked for with those to compare with. */
export function latestFigures(
  derived: readonly DerivedField[],
  countryCodes: readonly string[],
  metricKey: string,
  maxAgeMs: number,
  context: GraphContext,
): ReturnType<ObservationLoader['nationals']> {
  askAhead(derived, latestOf(countryCodes, metricKey, maxAgeMs), context);
  return context.loaders.observations.nationals(countryCodes, metricKey, maxAgeMs);
}

function latestOf(countryCodes: readonly string[], metricKey: string, maxAgeMs: number): FiguresAsked {
  return { mode: 'latest', countryCodes, metricKeys: [metricKey], years: null, maxAgeMs };
}

/** Asks for the figures to compare with, before the derived fields do. */
export function askAhead(derived: readonly DerivedField[], asked: FiguresAsked, context: GraphContext): void {
  for (const field of derived) {
    const { name, metricKey, among } = field;
    if (name === 'per' && metricKey !== undefined) {
      const pairs = { countryCodes: asked.countryCodes, metricKeys: [metricKey] };
      ifKnown('metrics', [metricKey], context, () => ask({ ...asked, ...pairs }, context));
    } else if (name === 'rank') {
      const all = among == null ? [...COVERED_COUNTRIES] : [...new Set(among)];
      ifKnown('countries', all, context, (countryCodes) => ask({ ...asked, countryCodes }, context));
    } else {
      const { since } = field;
      if (since != null) ask({ ...asked, mode: 'series', years: yearRange(since, since) }, context);
      else if (asked.mode === 'series' || areFew(asked)) ask({ ...asked, mode: 'series' }, context);
    }
  }
}

function areFew({ countryCodes, metricKeys }: FiguresAsked): boolean {
  return countryCodes.length * metricKeys.length <= SERIES_AHEAD;
}

function ask(asked: FiguresAsked, { loaders }: GraphContext): void {
  const { countryCodes, metricKeys, years, maxAgeMs } = asked;
  // The figure to compare with may be older than the latest one; a series holds it.
  const mode = areFew(asked) ? 'series' : asked.mode;
  const demands: Demand[] = countryCodes.flatMap((code) =>
    metricKeys.map((key) => demandFor(mode, code, key, maxAgeMs, years)),
  );
  loaders.observations.operands.ahead(demands);
}

/** Goes on with the names that may have figures. The derived field itself warns of the others. */
function ifKnown(
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
  const finding = mapValue(loaders.heldNames(dimension), (held) => {
    const found = held === null ? names : names.filter((name) => held.has(name));
    if (found.length > 0) goOn(found);
  });
  // If it can't be asked for now, the derived field asks for it, and fails by itself.
  if (finding instanceof Promise) batchGate.closeDuring(finding).catch(() => {});
}

/**
 * The list tells which countries there are, and the text of the operation which of their figures are wanted. So while
 * the list is on its way, the figures of the countries on its last version can be asked for: one round trip for both,
 * in place of two.
 */

/** `Country.observation` in a selection on countries. */
interface LatestField {
  readonly definition: GraphQLField<unknown, unknown>;
  readonly nodes: RowsField['fieldNodes'];
  /** The figures to ask for, if no variables decide that. */
  wanted?: WantedLatest;
}

/** The figures that a field asks for of each country. */
interface WantedLatest {
  readonly metricKey: string;
  readonly maxAgeMs: number;
  readonly derived: ReturnType<typeof derivedOf>;
}

/**
 * Asks for the latest figures that are selected of countries, while these are loading and calls are plenty.
 * @param loading the countries
 * @param choose picks the countries that will be among them from the ones that the list is expected to have, in their
 * order
 */
export function withFiguresAhead<Result>(
  loading: PromiseOrValue<Result>,
  context: GraphContext,
  info: GraphQLResolveInfo,
  choose: (expected: readonly string[]) => readonly string[],
): PromiseOrValue<Result> {
  if (!(loading instanceof Promise)) return loading;
  const fields = latestFieldsIn(info);
  if (fields.length === 0) return loading;
  const expected = context.loaders.expectedCountries();
  const codes = expected === null ? [] : choose(expected);
  const coming = codes.length === 0 ? null : latestAhead(fields, codes, context, info);
  return coming === null ? loading : marksAskedAhead(afterAll(loading, coming));
}

/**
 * Waits for the countries; if none come, for the figures too: nobody else waits for them then, and the operation would
 * end before it is billed for them.
 */
async function afterAll<Result>(loading: Promise<Result>, coming: Promise<unknown>): Promise<Result> {
  let isNothing = true;
  try {
    const result = await loading;
    isNothing = result === null || (Array.isArray(result) && result.length === 0);
    return result;
  } finally {
    if (isNothing) await coming;
  }
}

/**
 * The latest figures that are selected of countries; none if something else below them leads to figures too, since the
 * batch waits for that.
 */
const latestFieldsIn = perSelection((info: GraphQLResolveInfo): readonly LatestField[] => {
  const { schema, fragments, variableValues, fieldNodes } = info;
  const type = getNamedType(info.returnType);
  if (!isObjectType(type)) return [];
  const selected = collectSubfields(schema, fragments, variableValues, type, fieldNodes);
  const found: LatestField[] = [];
  for (const nodes of selected.values()) {
    const definition = type.getFields()[nodes[0]?.name.value ?? ''];
    if (definition === undefined) continue;
    const named = getNamedType(definition.type);
    if (definition.name === 'observation') found.push({ definition, nodes });
    else if (asksForFigures(definition)) return [];
    else if (nodes.some(({ selectionSet }) => leadsToFigures(named, selectionSet, info))) return [];
  }
  return found;
});

/** @returns a promise that settles once they are there; null if the batch has to wait for the countries after all */
function latestAhead(
  fields: readonly LatestField[],
  codes: readonly string[],
  context: GraphContext,
  info: GraphQLResolveInfo,
): Promise<unknown> | null {
  try {
    const wanted = fields.map((field) => wantedBy(field, info));
    if (!wanted.every(({ metricKey }) => maybeKnown(metricKey, context))) return null;
    // The path of these keys is known once the countries are there.
    doubtKeys(
      context,
      wanted.map(({ metricKey }) => metricKey),
    );
    const coming = wanted.map(({ metricKey, maxAgeMs, derived }) => {
      askAhead(derived, latestOf(codes, metricKey, maxAgeMs), context);
      return context.loaders.observations.nationalsAhead(codes, metricKey, maxAgeMs);
    });
    return Promise.all(coming);
  } catch {
    // The field itself will report the error.
    return null;
  }
}

/** @throws GraphQLError if its arguments are invalid */
function wantedBy(latest: LatestField, info: GraphQLResolveInfo): WantedLatest {
  if (latest.wanted !== undefined) return latest.wanted;
  const { definition, nodes } = latest;
  const { schema, fragments, variableValues, operation } = info;
  const args = getArgumentValues(definition, nodes[0] as FieldNode, variableValues);
  const { metricKey, maxAge } = args as unknown as CountryObservationArgs;
  checkMetricKey(metricKey);
  const field = { schema, fragments, variableValues, fieldNodes: nodes, returnType: definition.type };
  const wanted = { metricKey, maxAgeMs: maxAgeMsOf(maxAge), derived: derivedOf(field) };
  if (!operation.variableDefinitions?.length) latest.wanted = wanted;
  return wanted;
}

/** True if nothing at hand tells that there are no figures of an indicator. */
function maybeKnown(metricKey: string, { loaders }: GraphContext): boolean {
  return loaders.listed.metrics.has(metricKey) || loaders.heldNames('metrics') === null;
}
