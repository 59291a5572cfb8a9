import { type GraphQLFieldResolver, type GraphQLSchema, isObjectType } from 'graphql';
import type { PromiseOrValue } from '../../shared/async/turns.ts';
import type { GraphContext } from '../schema/context.ts';
import type { SchemaPart } from '../schema/schema.ts';
import { type ListedRecords, recordReaders } from './record-readers.ts';

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** True if the field is made of a listed record, which is then loaded with the object. */
    ofRecord?: boolean;
  }
}

interface OfRecord {
  readonly type: keyof ListedRecords;
  readonly needs: readonly string[];
  readonly read: (record: never, args: never) => unknown;
}

/**
 * A resolver of a plugin for a field over what the graph knows of a country, an indicator or a source. `read` gets the
 * fields that it needs: at once if they came with the object, otherwise from the service's list, which the operation
 * loads once. So the field says `@upstream(takes: ONCE)` in its SDL, and is priced and billed like those of the graph.
 * Without such a record the field is null.
 */
export function recordField<
  Type extends keyof ListedRecords,
  Name extends keyof ListedRecords[Type] & string,
  Args,
>(
  type: Type,
  needs: readonly Name[],
  read: (record: Pick<ListedRecords[Type], Name>, args: Args) => PromiseOrValue<unknown>,
): GraphQLFieldResolver<unknown, GraphContext, Args> {
  const unbound = () => {
    throw new TypeError('The graph of a gateway resolves this field.');
  };
  // A mark, since a plugin may have another copy of this module than the gateway.
  return Object.assign(unbound, { ofRecord: { type, needs, read } });
}

type AnyResolver = SchemaPart['resolvers'][string][string];

type Computed = (needs: OfRecord['needs'], read: OfRecord['read']) => AnyResolver;

const ofRecordIn = (resolver: AnyResolver): OfRecord | undefined =>
  (resolver as { readonly ofRecord?: OfRecord }).ofRecord;

/** Puts resolvers that load records in place of those that `recordField` has marked. */
export function withRecordFields(part: SchemaPart): SchemaPart {
  const bound = (resolver: AnyResolver): AnyResolver => {
    const marked = ofRecordIn(resolver);
    if (marked === undefined) return resolver;
    // `recordField` has checked which fields each type has.
    const computed = recordReaders[marked.type].computed as unknown as Computed;
    const resolve = computed(marked.needs, marked.read);
    return { resolve, extensions: { ofRecord: true } } as never;
  };
  const resolvers = Object.entries(part.resolvers).map(([type, fields]) => [
    type,
    Object.fromEntries(Object.entries(fields).map(([name, resolver]) => [name, bound(resolver)])),
  ]);
  return { ...part, resolvers: Object.fromEntries(resolvers) };
}

/** @throws TypeError naming a field that loads a record without saying so */
export function requireSaidRecords(schema: GraphQLSchema, parts: readonly SchemaPart[]): void {
  for (const { resolvers } of parts) {
    for (const [typeName, fields] of Object.entries(resolvers)) {
      for (const [name, resolver] of Object.entries(fields)) {
        const marked = ofRecordIn(resolver);
        const type = schema.getType(typeName);
        if (marked === undefined || !isObjectType(type)) continue;
        if (marked.type !== typeName)
          throw new TypeError(
            `${typeName}.${name} reads records of ${marked.type}, and is none of its fields.`,
          );
        if (type.getFields()[name]?.extensions.cost === 'UNSAID')
          throw new TypeError(
            `${typeName}.${name} may load a list of the service, so its SDL has to say @upstream(takes: ONCE).`,
          );
      }
    }
  }
}
