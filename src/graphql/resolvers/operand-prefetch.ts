import type { ObservationLoader } from '../../observations/loaders/observations.ts';
import type { ExpectedFigures } from '../../observations/loaders/operands.ts';
import { yearRange } from '../../observations/planner/demand.ts';
import type { Dimension } from '../../observations/planner/learned.ts';
import { COVERED_COUNTRIES } from '../../service/records/countries.ts';
import { handleRejections, mapValue, type PromiseOrValue } from '../../shared/async/promises.ts';
import type { GraphContext } from '../schema/context.ts';
import { argumentsOf, fieldsOfRows, type SelectedField } from '../schema/selection.ts';
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

const DERIVED: ReadonlySet<string> = new Set(['change', 'growthPercent', 'per', 'rank']);

const NONE: readonly DerivedField[] = [];

/** Maximum series fetched whole beside latest figures: about one call. Beyond it, only the needed years are fetched. */
const MAX_PREFETCHED_SERIES = 12;

/**
 * The derived fields that are selected on the figures of a field.
 * @throws Failure BAD_USER_INPUT if their arguments make no sense, before any call
 */
export function derivedOf({ field, variableValues }: SelectedField): readonly DerivedField[] {
  return fieldsOfRows(field).flatMap((derived): readonly DerivedField[] => {
    if (!DERIVED.has(derived.name) || derived.parentType.name !== 'Observation') return NONE;
    const args: DerivedArguments | null = argumentsOf(derived, variableValues);
    if (args === null) return NONE;
    checkSince(args.since);
    if (args.metricKey !== undefined) checkMetricKey(args.metricKey);
    return [{ ...args, name: derived.name }];
  });
}

/** The latest national figures of some countries, fetched together with the operands of derived fields. */
export function latestFigures(
  derived: readonly DerivedField[],
  countryCodes: readonly string[],
  metricKey: string,
  maxAgeMs: number,
  context: GraphContext,
): ReturnType<ObservationLoader['nationals']> {
  const { observations } = context.loaders;
  const asking = prefetchLatest(derived, countryCodes, metricKey, maxAgeMs, context);
  return mapValue(asking, () => observations.nationals(countryCodes, metricKey, maxAgeMs));
}

/** Fetches the figures to compare the latest ones of some countries with. */
export function prefetchLatest(
  derived: readonly DerivedField[],
  countryCodes: readonly string[],
  metricKey: string,
  maxAgeMs: number,
  context: GraphContext,
): PromiseOrValue<void> {
  const asked = { mode: 'latest', countryCodes, metricKeys: [metricKey], years: null, maxAgeMs } as const;
  return prefetchDerived(derived, asked, context);
}

/**
 * Fetches the figures to compare with, before the derived fields ask for them.
 * @returns settles once they are asked for: many take turns
 */
export function prefetchDerived(
  derived: readonly DerivedField[],
  asked: ExpectedFigures,
  context: GraphContext,
): PromiseOrValue<void> {
  if (derived.length === 0 || asked.countryCodes.length === 0 || asked.metricKeys.length === 0) return;
  const operands = context.loaders.observations.operands();
  /** What is known to exist is asked for together. */
  const wanted: ExpectedFigures[] = [];
  const want = (
    dimension: Dimension,
    names: readonly string[],
    of: (names: readonly string[]) => ExpectedFigures,
  ) => {
    const existing = existingOf(dimension, names, context);
    if (!(existing instanceof Promise)) wanted.push(of(existing));
    // What can't be found out now, the derived field finds out, and fails by itself.
    else handleRejections([operands.prefetch(existing.then((found) => [of(found)]))]);
  };
  for (const { name, metricKey, among, since } of derived) {
    if (name === 'per' && metricKey !== undefined)
      want('metrics', [metricKey], (metricKeys) => operandsIn({ ...asked, metricKeys }));
    else if (name === 'rank') {
      const of = (countryCodes: readonly string[]) => operandsIn({ ...asked, countryCodes });
      // All covered countries are asked for, listed or not, since the field wants all of them.
      if (among == null) wanted.push(of([...COVERED_COUNTRIES]));
      else want('countries', [...new Set(among)], of);
    } else if (since != null)
      wanted.push(operandsIn({ ...asked, mode: 'series', years: yearRange(since, since) }));
    else if (asked.mode === 'series' || areFew(asked)) wanted.push(operandsIn({ ...asked, mode: 'series' }));
  }
  return operands.prefetch(wanted);
}

function areFew({ countryCodes, metricKeys }: ExpectedFigures): boolean {
  return countryCodes.length * metricKeys.length <= MAX_PREFETCHED_SERIES;
}

/** The figure to compare with may be older than the latest one, so it needs the series, if these are few. */
function operandsIn(asked: ExpectedFigures): ExpectedFigures {
  return areFew(asked) ? { ...asked, mode: 'series' } : asked;
}

/** The names that may have figures; the derived field itself warns of the others. */
function existingOf(
  dimension: Dimension,
  names: readonly string[],
  { loaders, batchGate }: GraphContext,
): PromiseOrValue<readonly string[]> {
  const listed = loaders.listed[dimension];
  if (names.every((name) => listed.has(name))) return names;
  const finding = mapValue(loaders.cachedNames(dimension), (cachedNames) =>
    cachedNames === null ? names : names.filter((name) => cachedNames.has(name)),
  );
  return finding instanceof Promise ? batchGate.closeDuring(finding) : finding;
}
