/**
 * Fetches figures in the same round trip as the list of countries. The document says which figures are wanted, so
 * while the list loads they are fetched for the countries that it most likely has: those of its last version, or those
 * that the document names. If the list lacks them, the call was wasted.
 */
import { type FieldNode, type GraphQLResolveInfo, getArgumentValues } from 'graphql';
import type { createLoaders } from '../../observations/loaders/loaders.ts';
import { mapValue, type PromiseOrValue, whenAll } from '../../shared/async/promises.ts';
import type { FieldPlan } from '../execution/plan.ts';
import type { CountryRef, GraphContext, Page } from '../schema/context.ts';
import type { CountryObservationArgs } from '../schema/generated.ts';
import { markPrefetched } from '../schema/loading.ts';
import { fieldsOfRows, leadToFigures, perField, type SelectedField } from '../schema/selection.ts';
import { checkMetricKey, maxAgeMsOf } from './argument-checks.ts';
import { type ObservationFilter, prefetchRows } from './observation-rows.ts';
import { derivedOf, prefetchLatest } from './operand-prefetch.ts';
import { doubtKeys } from './warned.ts';

export type ExpectedCountries = ReturnType<ReturnType<typeof createLoaders>['expectedCountries']>;

/** Maximum figures that one field prefetches: about one call. */
const MAX_AHEAD = 1_000;

type Loaded = CountryRef | object | readonly CountryRef[] | Page<CountryRef> | null;

/**
 * @param loading the countries
 * @param choose picks their codes from those that the list is expected to contain
 */
export function withPrefetchedFigures<Result extends Loaded>(
  loading: PromiseOrValue<Result>,
  context: GraphContext,
  info: GraphQLResolveInfo,
  choose: (expected: ExpectedCountries) => readonly string[],
): PromiseOrValue<Result> {
  if (!(loading instanceof Promise)) return loading;
  const fields = figuresFieldsIn(info.field);
  const coming = fields.length === 0 ? null : prefetchFigures(fields, context, info, choose);
  return coming === null ? loading : markPrefetched(afterAll(loading, coming));
}

/** If no countries come, nothing else awaits the figures, whose calls must still be billed. */
async function afterAll<Result extends Loaded>(
  loading: Promise<Result>,
  coming: Promise<unknown>,
): Promise<Result> {
  let isNothing = true;
  try {
    const result = await loading;
    const rows = result !== null && 'nodes' in result ? result.nodes : result;
    isNothing = rows === null || (Array.isArray(rows) && rows.length === 0);
    return result;
  } finally {
    if (isNothing) await coming;
  }
}

interface FiguresField {
  readonly field: FieldPlan;
  /** Memoized if the figures don't depend on variables. */
  wanted?: WantedFigures;
}

interface WantedFigures {
  readonly metricKeys: readonly string[];
  /** Returns a promise that settles once they have come. */
  readonly askFor: (codes: readonly string[], context: GraphContext) => PromiseOrValue<unknown>;
}

/** Need only the codes of countries. */
const BY_CODE: ReadonlySet<string> = new Set(['observation', 'observations', 'observationsConnection']);

/** Empty if any other field below needs figures. */
const figuresFieldsIn = perField((countries): readonly FiguresField[] => {
  const fields = fieldsOfRows(countries).filter(({ parentType }) => parentType.name === 'Country');
  const ofFigures = fields.filter((field) => leadToFigures([field]));
  return ofFigures.every(({ name }) => BY_CODE.has(name)) ? ofFigures.map((field) => ({ field })) : [];
});

/** @returns null if the figures can't be fetched before the countries are known */
function prefetchFigures(
  fields: readonly FiguresField[],
  context: GraphContext,
  info: GraphQLResolveInfo,
  choose: (expected: ExpectedCountries) => readonly string[],
): Promise<unknown> | null {
  const { loaders } = context;
  try {
    const expected = loaders.expectedCountries();
    const codes = choose(expected);
    const wanted = fields.map((field) => wantedBy(field, info));
    const metricKeys = wanted.flatMap((field) => field.metricKeys);
    const figures = metricKeys.length * codes.length;
    if (figures === 0 || figures > MAX_AHEAD) return null;
    // A cached list may show that there is no such indicator.
    const isKnown = metricKeys.every((key) => loaders.listed.metrics.has(key));
    if (!isKnown && loaders.cachedNames('metrics') !== null) return null;
    if (!loaders.mayGoAhead()) return null;
    // The path of these keys is known once the countries are there.
    doubtKeys(context, metricKeys);
    return whenAll(
      wanted.map(({ askFor }) => {
        const coming = askFor(codes, context);
        return coming instanceof Promise ? coming.catch(() => {}) : coming;
      }),
    );
  } catch {
    // The field reports the error.
    return null;
  }
}

/** @throws GraphQLError if its arguments are invalid */
function wantedBy(selected: FiguresField, info: GraphQLResolveInfo): WantedFigures {
  if (selected.wanted !== undefined) return selected.wanted;
  const { variableValues, operation } = info;
  const { definition, nodes } = selected.field;
  const args = getArgumentValues(definition, nodes[0] as FieldNode, variableValues);
  const field = { field: selected.field, variableValues };
  const wanted = definition.name === 'observation' ? latestBy(args, field) : rowsBy(args, field);
  if (!operation.variableDefinitions?.length) selected.wanted = wanted;
  return wanted;
}

function latestBy(args: object, field: SelectedField): WantedFigures {
  const { metricKey, maxAge } = args as CountryObservationArgs;
  checkMetricKey(metricKey);
  const [maxAgeMs, derived] = [maxAgeMsOf(maxAge), derivedOf(field)];
  return {
    metricKeys: [metricKey],
    askFor(countryCodes, context) {
      const { observations } = context.loaders;
      const asking = prefetchLatest(derived, countryCodes, metricKey, maxAgeMs, context);
      const wanted = { mode: 'latest', isNational: true, countryCodes, metricKeys: [metricKey] } as const;
      return mapValue(asking, () => observations.prefetch({ ...wanted, maxAgeMs }));
    },
  };
}

/** @throws TypeError if the metrics come from the catalogue, which must be loaded first */
function rowsBy(args: object, field: SelectedField): WantedFigures {
  const filter = args as ObservationFilter;
  const { metricKeys } = filter;
  if (metricKeys == null) throw new TypeError('The catalogue names the metrics.');
  return {
    metricKeys,
    askFor: (codes, context) => prefetchRows(filter, codes, metricKeys, context, field),
  };
}
