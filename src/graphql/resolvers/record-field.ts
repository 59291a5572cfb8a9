import { type GraphQLField, type GraphQLFieldResolver, isObjectType } from 'graphql';
import type { PromiseOrValue } from '../../shared/async/promises.ts';
import type { GraphContext } from '../schema/context.ts';
import type { SchemaPart } from '../schema/schema.ts';
import { type RecordsByType, recordReaders } from './record-readers.ts';

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** True if the field is made of a listed record, which is then loaded with the object. */
    ofRecord?: boolean;
  }
}

interface OfRecord {
  readonly type: keyof RecordsByType;
  readonly needs: readonly string[];
  readonly read: (record: never, args: never) => unknown;
}

/**
 * A resolver of a plugin for a field over what the graph knows of an object. `read` gets the fields that it needs. A figure
 * and a ticker have all of theirs. Those of a country, an indicator or a source came with the object, or come from the
 * service's list, which the operation loads once: so the field says `@upstream(takes: ONCE)` in its SDL, and is priced and
 * billed like those of the graph. Without such a record the field is null.
 */
export function recordField<
  Type extends keyof RecordsByType,
  Name extends keyof RecordsByType[Type] & string,
  Args,
>(
  type: Type,
  needs: readonly Name[],
  read: (record: Pick<RecordsByType[Type], Name>, args: Args) => PromiseOrValue<unknown>,
): GraphQLFieldResolver<unknown, unknown, Args> {
  const unbound = () => {
    throw new TypeError('The graph of a gateway resolves this field.');
  };
  // A mark, since a plugin may have another copy of this module than the gateway.
  return Object.assign(unbound, { ofRecord: { type, needs, read } });
}

type Computed = (
  needs: OfRecord['needs'],
  read: OfRecord['read'],
) => GraphQLFieldResolver<unknown, GraphContext>;

type AnyField = GraphQLField<unknown, GraphContext>;

/** Puts resolvers that load records in place of those that `recordField` has marked, once the part is in the graph. */
export function withRecordFields(part: SchemaPart): SchemaPart {
  return {
    ...part,
    finish(schema) {
      part.finish?.(schema);
      for (const [typeName, resolvers] of Object.entries(part.resolvers)) {
        const type = schema.getType(typeName);
        if (!isObjectType(type)) continue;
        for (const [name, resolver] of Object.entries(resolvers)) {
          const { ofRecord: marked } = resolver as { readonly ofRecord?: OfRecord };
          const field: AnyField | undefined = type.getFields()[name];
          if (marked !== undefined && field !== undefined) bind(field, typeName, marked);
        }
      }
    },
  };
}

/** @throws TypeError if the records are of another type, or the SDL doesn't say that the field may load them */
function bind(field: AnyField, typeName: string, { type, needs, read }: OfRecord): void {
  const name = `${typeName}.${field.name}`;
  if (type !== typeName) throw new TypeError(`${name} reads records of ${type}, and is none of its fields.`);
  if (type === 'Observation' || type === 'Ticker') {
    field.resolve = (record, args) => read(record as never, args as never);
    field.extensions = { ...field.extensions, cost: 'NOTHING' };
    return;
  }
  if (field.extensions.cost === 'UNSAID')
    throw new TypeError(
      `${name} may load a list of the service, so its SDL has to say @upstream(takes: ONCE).`,
    );
  // `recordField` has checked which fields each type has.
  const computed = recordReaders[type].computed as unknown as Computed;
  field.resolve = computed(needs, read);
  field.extensions = { ...field.extensions, ofRecord: true };
}
