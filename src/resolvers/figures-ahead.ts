import {
  type FieldNode,
  type GraphQLField,
  type GraphQLResolveInfo,
  getArgumentValues,
  getNamedType,
  isObjectType,
} from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields.js';
import type { PromiseOrValue } from '../async/promise-or-value.ts';
import { marksAskedAhead } from '../graph/batch-gating.ts';
import type { GraphContext } from '../graph/context.ts';
import { asksForFigures } from '../graph/field-costs.ts';
import type { CountryObservationArgs } from '../graph/generated.ts';
import { leadsToFigures } from '../graph/selection.ts';
import { checkMetricKey, maxAgeMsOf } from './arguments.ts';
import { askAhead, derivedOf, type FiguresField, latestOf } from './derived-ahead.ts';
import { doubtKeys } from './warned.ts';

/**
 * The list tells which countries there are, and the text of the operation which of their figures are wanted. So while
 * the list is on its way, the figures of the countries on its last version can be asked for: one round trip for both,
 * in place of two.
 */

/** `Country.observation` in a selection on countries. */
interface LatestField {
  readonly definition: GraphQLField<unknown, unknown>;
  readonly nodes: FiguresField['fieldNodes'];
  /** The figures to ask for, if no variables decide that. */
  wanted?: WantedLatest;
}

/** The figures that a field asks for of each country. */
interface WantedLatest extends Pick<CountryObservationArgs, 'metricKey'> {
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

/** Findings by the nodes of a field, which are the same for each run of a plan. */
const known = new WeakMap<readonly unknown[], readonly LatestField[]>();

/**
 * The latest figures that are selected of countries; none if something else below them leads to figures too, since the
 * batch waits for that.
 */
function latestFieldsIn(info: GraphQLResolveInfo): readonly LatestField[] {
  let fields = known.get(info.fieldNodes);
  if (fields === undefined) {
    fields = findLatestFields(info);
    known.set(info.fieldNodes, fields);
  }
  return fields;
}

function findLatestFields(info: GraphQLResolveInfo): readonly LatestField[] {
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
}

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
