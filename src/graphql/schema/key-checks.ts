import {
  defaultTypeResolver,
  type GraphQLNamedType,
  type GraphQLSchema,
  isAbstractType,
  type TypeDefinitionNode,
} from 'graphql';
import { createObjectMemo } from '../../cache/lru.ts';
import { checkRight, TAGS, type Tag } from '../../service/rights.ts';
import { Failure } from '../../shared/errors.ts';
import type { FieldPlan, Plan } from '../execution/plan.ts';
import type { GraphContext } from './context.ts';
import { tagOf } from './contract-tags.ts';
import { objectTypesOf } from './object-types.ts';

/** `_service` tells a router our SDL. */
const PUBLIC_FIELDS: ReadonlySet<string> = new Set(['health', 'platformVersion', '_service']);

/**
 * Refuses protected fields without a key, or under one just refused, before anything else: such an operation costs no
 * call, and fields that take none aren't answered under just any key.
 */
export function requireKey(schema: GraphQLSchema): void {
  const roots = { resolve: schema.getQueryType(), subscribe: schema.getSubscriptionType() };
  for (const way of ['resolve', 'subscribe'] as const) {
    for (const [name, field] of Object.entries(roots[way]?.getFields() ?? {})) {
      const next = field[way];
      if (PUBLIC_FIELDS.has(name) || next === undefined) continue;
      field[way] = (source, args, context: GraphContext, info) => {
        checkKey(context);
        if (way === 'resolve' && takesNothingOld(info.plan)) context.loaders.observations.settleTogether();
        return next(source, args, context, info);
      };
    }
  }
}

/** In the base for contracts, but figures to a key's rights. */
const OF_FIGURES: ReadonlySet<string> = new Set(['CountryProfile', 'Signals']);

/** As a key's rights name it. */
export function partOf({ name, astNode, extensions }: GraphQLNamedType): Tag | 'base' {
  // Plugins mark their own types.
  if (OF_FIGURES.has(name) || extensions.part === 'figures') return 'figures';
  const tag = astNode == null ? null : tagOf(astNode as TypeDefinitionNode);
  return TAGS.find((one) => one === tag) ?? 'base';
}

/** Checks rights on each object behind an interface or a union by its own type, before any of it is read. */
export function judgeObjects(schema: GraphQLSchema): void {
  const parts = new Map(objectTypesOf(schema).map((type) => [type.name, partOf(type)]));
  const judge = (name: string | undefined, { caller }: GraphContext) => {
    checkRight(caller, parts.get(name ?? '') ?? 'base');
    return name;
  };
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isAbstractType(type)) continue;
    const resolveType = type.resolveType ?? defaultTypeResolver;
    type.resolveType = (value, context: GraphContext, info, abstract) => {
      const name = resolveType(value, context, info, abstract);
      if (context.caller.rights === undefined) return name;
      return name instanceof Promise
        ? name.then((objectName) => judge(objectName, context))
        : judge(name as string | undefined, context);
    };
  }
}

const nothingOld = createObjectMemo<boolean>('nothingOld');

/** True if any field bounds the age of figures. */
function takesNothingOld({ root, operation }: Plan): boolean {
  // Most texts lack the word, and need no look at their fields.
  if (operation.loc?.source.body.includes('maxAge') === false) return false;
  return nothingOld.of(root) ?? nothingOld.put(root, boundAge(root.selected));
}

function boundAge(fields: readonly FieldPlan[]): boolean {
  return fields.some(
    ({ nodes, below }) => nodes[0]?.arguments?.some(({ name }) => name.value === 'maxAge') || boundAge(below),
  );
}

function checkKey({ caller, gate }: GraphContext): void {
  if (!/^Bearer +\S/i.test(caller.authorization ?? '')) {
    throw new Failure('UNAUTHENTICATED', 'This field needs a key: send `Authorization: Bearer <API_KEY>`.');
  }
  const refusal = gate?.refusal(caller.tenant) ?? null;
  if (refusal !== null) throw refusal.with({ route: undefined });
}
