import {
  defaultFieldResolver,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
} from 'graphql';
import type { GraphContext } from './context.ts';
import { costOf, type FieldCost } from './field-costs.ts';
import { leadsToFigures, typesThatLead } from './selection.ts';

const OWN_CONCERN: ReadonlySet<FieldCost> = new Set<FieldCost>(['FIGURES', 'IDENTIFIED']);

/**
 * Makes every field that is still loading hold the batch of figures back, if the selection below it can add to that
 * batch. Fields that ask for figures themselves don't: the batch waits to answer them. Fields that find objects by
 * their identifiers may be either, and see to it themselves.
 */
export function gateWhileLoading(schema: GraphQLSchema): void {
  const leading = typesThatLead(schema);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const isOwnConcern = OWN_CONCERN.has(costOf(field));
      if (isOwnConcern || field.resolve === undefined || field.resolve === defaultFieldResolver) continue;
      if (leading.has(getNamedType(field.type).name)) field.resolve = gated(field.resolve);
    }
  }
}

function gated(
  resolve: GraphQLFieldResolver<unknown, GraphContext>,
): GraphQLFieldResolver<unknown, GraphContext> {
  return (source, args, context, info) => {
    const result = resolve(source, args, context, info);
    const loading = Array.isArray(result) ? result.filter(isPromise) : isPromise(result) ? [result] : [];
    if (loading.length > 0 && gatesBatch(info)) {
      for (const promise of loading) if (!isAskedAhead(promise)) context.batchGate.closeDuring(promise);
    }
    return result;
  };
}

const askedAhead = new WeakSet<Promise<unknown>>();

export const isAskedAhead = (loading: Promise<unknown>): boolean => askedAhead.has(loading);

/** Marks a loading result, so that the batch doesn't wait for it: everything below it has been asked for. */
export function marksAskedAhead<Result>(loading: Promise<Result>): Promise<Result> {
  askedAhead.add(loading);
  return loading;
}

/**
 * True by nodes of a field if the selection below it leads to figures. Execution hands the same nodes to each item of a
 * list.
 */
const known = new WeakMap<readonly unknown[], boolean>();

export function gatesBatch(info: GraphQLResolveInfo): boolean {
  const { fieldNodes, returnType } = info;
  let gates = known.get(fieldNodes);
  if (gates === undefined) {
    gates = fieldNodes.some((node) => leadsToFigures(getNamedType(returnType), node.selectionSet, info));
    known.set(fieldNodes, gates);
  }
  return gates;
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as Promise<unknown> | null | undefined)?.then === 'function';
}
