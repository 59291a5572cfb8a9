import {
  defaultFieldResolver,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { isPromise } from 'graphql/jsutils/isPromise.js';
import type { GraphContext } from './context.ts';
import { objectTypesOf } from './object-types.ts';
import { asksForFigures, costOf, type FieldCost, gatesBatch } from './selection.ts';

/** Types below which some selection can ask for figures. */
function typesThatLead(schema: GraphQLSchema): ReadonlySet<string> {
  const leading = new Set<string>();
  for (let grew = true; grew; ) {
    grew = false;
    for (const type of Object.values(schema.getTypeMap())) {
      if (leading.has(type.name) || type.name.startsWith('__')) continue;
      const fields = isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];
      const below = fields.map((field) => getNamedType(field.type));
      const members = isCompositeType(type) && !isObjectType(type) ? schema.getPossibleTypes(type) : [];
      if (fields.some(asksForFigures) || [...below, ...members].some(({ name }) => leading.has(name))) {
        leading.add(type.name);
        grew = true;
      }
    }
  }
  return leading;
}

const OWN_CONCERN: ReadonlySet<FieldCost> = new Set<FieldCost>(['FIGURES', 'IDENTIFIED']);

/**
 * Makes loading fields hold back the batch of figures if their selection can add to it. Fields of figures don't: the
 * batch answers them. Fields that find objects by identifier decide for themselves.
 */
export function gateWhileLoading(schema: GraphQLSchema): void {
  const leading = typesThatLead(schema);
  for (const type of objectTypesOf(schema)) {
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
    if (loading.length > 0 && gatesBatch(info.field)) {
      for (const promise of loading) if (!isPrefetched(promise)) context.batchGate.closeDuring(promise);
    }
    return result;
  };
}

const prefetchedMark = Symbol('asked ahead');

type Loading<Result> = Promise<Result> & { [prefetchedMark]?: true };

export const isPrefetched = (loading: Loading<unknown>): boolean => loading[prefetchedMark] === true;

/** The batch doesn't wait for it: everything below has been asked for. */
export function markPrefetched<Result>(loading: Loading<Result>): Promise<Result> {
  loading[prefetchedMark] = true;
  return loading;
}
