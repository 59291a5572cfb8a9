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

/*
 * Which countries there are the list tells, and which of their figures are wanted the text of the operation. While the list is on its
 * way the figures of those that it had last can thus be asked for: one round trip for both, in place of two.
 */

/** `Country.observation` in a selection on countries. */
interface LatestField {
  readonly definition: GraphQLField<unknown, unknown>;
  readonly nodes: FiguresField['fieldNodes'];
  /** What it asks for, where no variables decide that. */
  wanted?: WantedLatest;
}

/** What a field asks for of each country. */
interface WantedLatest extends Pick<CountryObservationArgs, 'metricKey'> {
  readonly maxAgeMs: number;
  readonly derived: ReturnType<typeof derivedOf>;
}

/**
 * Asks for the latest figures that are selected of countries, while these are loading and calls are plenty.
 * @param loading the countries
 * @param choose which of the countries that the list is expected to have will be among them, in their order
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

/** What is loading. Where nothing comes of it, nobody else waits for the figures, and the operation would end before it is billed for them. */
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

/** By the nodes of a field, which are the same for each run of a plan. */
const known = new WeakMap<readonly unknown[], readonly LatestField[]>();

/** The latest figures that are selected of countries; none where something else below them leads to figures too, which the batch waits for. */
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

/** @returns settles once they are there; null where the batch has to wait for the countries after all */
function latestAhead(
  fields: readonly LatestField[],
  codes: readonly string[],
  context: GraphContext,
  info: GraphQLResolveInfo,
): Promise<unknown> | null {
  try {
    const wanted = fields.map((field) => wantedBy(field, info));
    if (!wanted.every(({ metricKey }) => maybeKnown(metricKey, context))) return null;
    // Their path is known once the countries are there.
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
    // The field itself will say what is wrong.
    return null;
  }
}

/** @throws GraphQLError where it asks for what can't be */
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

/** Whether nothing at hand tells that there are no figures of an indicator. */
function maybeKnown(metricKey: string, { loaders }: GraphContext): boolean {
  return loaders.listed.metrics.has(metricKey) || loaders.heldNames('metrics') === null;
}
