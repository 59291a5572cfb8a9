import {
  type FieldNode,
  type GraphQLField,
  type GraphQLResolveInfo,
  getArgumentValues,
  getNamedType,
  isObjectType,
} from 'graphql';
import { mapValue } from '../async/promise-or-value.ts';
import { Failure } from '../errors.ts';
import type { GraphContext } from '../graph/context.ts';
import { type FieldScope, nodesBelow, rowTypeOf, scopeOfRows, selectedFields } from '../graph/selection.ts';
import { type Demand, demandFor, type Mode } from '../planner/demand.ts';
import type { Dimension } from '../planner/learned.ts';
import { type YearRange, yearRange } from '../planner/year-range.ts';
import { COVERED_COUNTRIES } from '../upstream/covered-countries.ts';
import { checkMetricKey } from './arguments.ts';

/**
 * The text of the operation tells which figures others are compared with, before they are there. So these are asked for
 * with them, and travel in the same call.
 */

/** A field that brings figures, of which others may be derived. */
export type FiguresField = FieldScope & Pick<GraphQLResolveInfo, 'returnType'>;

/** A derived field of the figures of a field, with its arguments as far as they fit. */
interface DerivedField {
  readonly name: string;
  readonly since?: number | null;
  readonly metricKey?: string;
  readonly among?: readonly string[] | null;
}

/** The figures that others are derived of. */
export interface FiguresAsked {
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
export function derivedOf(field: FiguresField): readonly DerivedField[] {
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
): Omit<DerivedField, 'name'> | null {
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

/** The latest figures of some countries. */
export function latestOf(countryCodes: readonly string[], metricKey: string, maxAgeMs: number): FiguresAsked {
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
