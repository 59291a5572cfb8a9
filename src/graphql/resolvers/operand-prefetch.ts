import { type FieldNode, type GraphQLField, getArgumentValues, getNamedType, isObjectType } from 'graphql';
import type { ObservationLoader } from '../../observations/loaders/observations.ts';
import {
  type Demand,
  demandFor,
  type Mode,
  type YearRange,
  yearRange,
} from '../../observations/planner/demand.ts';
import type { Dimension } from '../../observations/planner/learned.ts';
import { COVERED_COUNTRIES } from '../../service/records/countries.ts';
import { mapValue } from '../../shared/async/turns.ts';
import type { GraphContext } from '../schema/context.ts';
import {
  fieldsBelow,
  type RowsField,
  rowTypeOf,
  type SelectionScope,
  scopeOfRows,
  selectedFields,
} from '../schema/selection.ts';
import { checkMetricKey, checkSince } from './argument-checks.ts';

/*
 * The document says in advance which figures others are compared with, so these operands are fetched in the same
 * call.
 */

/** A derived field selected on figures, with its arguments. */
export interface DerivedField extends DerivedArguments {
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

/** Maximum series fetched whole beside latest figures: about one call. Beyond it, only the needed years are fetched. */
const MAX_PREFETCHED_SERIES = 12;

/**
 * The derived fields that are selected on the figures of a field.
 * @throws Failure BAD_USER_INPUT if their arguments make no sense, before any call
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

/** The latest national figures of some countries, fetched together with the operands of derived fields. */
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

/** Fetches the figures to compare the latest ones of some countries with. */
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

/** Fetches the figures to compare with, before the derived fields ask for them. */
export function prefetchDerived(
  derived: readonly DerivedField[],
  asked: FiguresAsked,
  context: GraphContext,
): void {
  if (asked.countryCodes.length === 0 || asked.metricKeys.length === 0) return;
  for (const field of derived) {
    const { name, metricKey, among } = field;
    if (name === 'per' && metricKey !== undefined) {
      const pairs = { countryCodes: asked.countryCodes, metricKeys: [metricKey] };
      existingOf('metrics', [metricKey], context, () => ask({ ...asked, ...pairs }, context));
    } else if (name === 'rank') {
      const askFor = (countryCodes: readonly string[]) => ask({ ...asked, countryCodes }, context);
      // All covered countries are asked for, listed or not, since the field wants all of them.
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
  // The figure to compare with may be older than the latest one, so it needs the series.
  const mode = areFew(asked) ? 'series' : asked.mode;
  const demands: Demand[] = countryCodes.flatMap((code) =>
    metricKeys.map((key) => demandFor(mode, code, key, maxAgeMs, years)),
  );
  loaders.observations.operands.prefetch(demands);
}

/** Continues with the names that may have figures; the derived field itself warns of the others. */
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
  // If it can't be fetched now, the derived field fetches it, and fails by itself.
  if (finding instanceof Promise) batchGate.closeDuring(finding).catch(() => {});
}
