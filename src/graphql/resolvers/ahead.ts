/**
 * Figures in one round trip with the list of countries. The list tells which countries there are, and the text of the
 * operation which of their figures are wanted. So while the list is on its way, the figures are asked for of the
 * countries that it most likely has: those of its last version, the one that the text names, or the documented ones.
 * If the list lacks them, the call was for nothing.
 */
import {
  type FieldNode,
  type GraphQLField,
  type GraphQLResolveInfo,
  getArgumentValues,
  getNamedType,
  isAbstractType,
  isObjectType,
} from 'graphql';
import type { createLoaders } from '../../observations/loaders/loaders.ts';
import { type PromiseOrValue, whenAll } from '../../shared/async/turns.ts';
import type { CountryRef, GraphContext, Page } from '../schema/context.ts';
import type { CountryObservationArgs } from '../schema/generated.ts';
import { markPrefetched } from '../schema/loading.ts';
import {
  areOnlyFigures,
  asksForFigures,
  fieldsBelow,
  leadsToFigures,
  perSelection,
  type RowsField,
  rowTypeOf,
  scopeOfRows,
} from '../schema/selection.ts';
import { checkMetricKey, maxAgeMsOf } from './argument-checks.ts';
import { type ObservationFilter, prefetchRows } from './observation-rows.ts';
import { derivedOf, prefetchLatest } from './operand-prefetch.ts';
import { doubtKeys } from './warned.ts';

export type ExpectedCountries = ReturnType<ReturnType<typeof createLoaders>['expectedCountries']>;

/** Figures that are asked for ahead at most by one field: about as many as one call brings. */
const MAX_AHEAD = 1_000;

type Loaded = CountryRef | object | readonly CountryRef[] | Page<CountryRef> | null;

/**
 * Asks for the figures that are selected of countries, while these are loading, if that may be.
 * @param loading the countries
 * @param choose picks the codes that will be among them from those that the list is expected to have
 */
export function withPrefetchedFigures<Result extends Loaded>(
  loading: PromiseOrValue<Result>,
  context: GraphContext,
  info: GraphQLResolveInfo,
  choose: (expected: ExpectedCountries) => readonly string[],
): PromiseOrValue<Result> {
  if (!(loading instanceof Promise)) return loading;
  const fields = figuresFieldsIn(info);
  const coming = fields.length === 0 ? null : prefetchFigures(fields, context, info, choose);
  return coming === null ? loading : markPrefetched(afterAll(loading, coming));
}

/** Waits for the countries; if none come, for the figures too: nobody else waits for their bill then. */
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
  readonly definition: GraphQLField<unknown, unknown>;
  readonly nodes: RowsField['fieldNodes'];
  /** The figures to ask for, if no variables decide that. */
  wanted?: WantedFigures;
}

interface WantedFigures {
  readonly metricKeys: readonly string[];
  /** Asks for them of some countries; returns a promise that settles once they have come. */
  readonly askFor: (
    codes: readonly string[],
    context: GraphContext,
    isGuess: boolean,
  ) => Promise<unknown> | undefined;
}

/** The fields that can be asked for by the codes of countries alone. */
const BY_CODE: ReadonlySet<string> = new Set(['observation', 'observations', 'observationsConnection']);

/** The figures that are selected of countries; none if something else below them leads to figures. */
const figuresFieldsIn = perSelection((info: GraphQLResolveInfo): readonly FiguresField[] => {
  const named = getNamedType(info.returnType);
  // An entity, and a node, is one of several types.
  const type = isAbstractType(named) ? info.schema.getType('Country') : (rowTypeOf(named) ?? named);
  if (!isObjectType(type)) return [];
  const fields: FiguresField[] = [];
  for (const nodes of fieldsBelow(scopeOfRows(info), type)) {
    const definition = type.getFields()[nodes[0]?.name.value ?? ''];
    if (definition === undefined) continue;
    if (BY_CODE.has(definition.name)) fields.push({ definition, nodes });
    else if (asksForFigures(definition)) return [];
    else if (nodes.some((node) => leadsToFigures(getNamedType(definition.type), node.selectionSet, info)))
      return [];
  }
  return fields;
});

/** @returns a promise that settles once they are there; null if the batch has to wait for the countries after all */
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
    // If a list is at hand that lacks the indicator, there may be no figures of it.
    const isKnown = metricKeys.every((key) => loaders.listed.metrics.has(key));
    if (!isKnown && loaders.cachedNames('metrics') !== null) return null;
    // Before any list has come, some of several may be wrong: others must not share a call that is refused for that.
    const isGuess = codes.length > 1 && !expected.areListed;
    if (isGuess && !areOnlyFigures(info)) return null;
    if (!loaders.mayGuess(isGuess)) return null;
    // The path of these keys is known once the countries are there.
    doubtKeys(context, metricKeys);
    return whenAll(wanted.map(({ askFor }) => askFor(codes, context, isGuess)));
  } catch {
    // The field itself will report the error.
    return null;
  }
}

/** @throws GraphQLError if its arguments are invalid */
function wantedBy(selected: FiguresField, info: GraphQLResolveInfo): WantedFigures {
  if (selected.wanted !== undefined) return selected.wanted;
  const { definition, nodes } = selected;
  const { schema, fragments, variableValues, operation } = info;
  const args = getArgumentValues(definition, nodes[0] as FieldNode, variableValues);
  const field = { schema, fragments, variableValues, fieldNodes: nodes, returnType: definition.type };
  const wanted = definition.name === 'observation' ? latestBy(args, field) : rowsBy(args, field);
  if (!operation.variableDefinitions?.length) selected.wanted = wanted;
  return wanted;
}

function latestBy(args: object, field: RowsField): WantedFigures {
  const { metricKey, maxAge } = args as CountryObservationArgs;
  checkMetricKey(metricKey);
  const [maxAgeMs, derived] = [maxAgeMsOf(maxAge), derivedOf(field)];
  return {
    metricKeys: [metricKey],
    askFor(countryCodes, context, isGuess) {
      prefetchLatest(derived, countryCodes, metricKey, maxAgeMs, context);
      const wanted = { mode: 'latest', isNational: true, countryCodes, metricKeys: [metricKey] } as const;
      return context.loaders.observations.prefetch({ ...wanted, maxAgeMs }, isGuess);
    },
  };
}

/** @throws TypeError if the metrics are those of the catalogue, which has to come first */
function rowsBy(args: object, field: RowsField): WantedFigures {
  const filter = args as ObservationFilter;
  const { metricKeys } = filter;
  if (metricKeys == null) throw new TypeError('The catalogue names the metrics.');
  return {
    metricKeys,
    askFor: (codes, context, isGuess) => prefetchRows(filter, codes, metricKeys, context, field, isGuess),
  };
}
