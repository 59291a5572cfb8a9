import { defaultFieldResolver, type GraphQLFieldResolver } from 'graphql';
import { createObjectMemo } from '../../cache/lru.ts';
import { mapValue, type PromiseOrValue } from '../../shared/async/promises.ts';
import { Failure } from '../../shared/errors.ts';
import type { GraphContext } from '../schema/context.ts';
import type { ResolversParentTypes } from '../schema/generated.ts';

/**
 * Makes resolvers for fields that are plain properties of the object behind a type. Each is named, so that
 * `createSchema` finds a field that nothing provides; it would otherwise be null.
 * @typeParam Parents the objects behind the types of a schema
 */
export const fieldsReadBy =
  (read: GraphQLFieldResolver<unknown, unknown>) =>
  <Parents extends object>() =>
  <Type extends keyof Parents, Name extends keyof Parents[Type] & string>(
    _type: Type,
    ...names: readonly Name[]
  ): { readonly [Field in Name]: (source: Parents[Type]) => Parents[Type][Field] } =>
    // `Object.fromEntries` loses the types of the entries.
    Object.fromEntries(names.map((name) => [name, read])) as never;

export const plainFields = fieldsReadBy(defaultFieldResolver)<ResolversParentTypes>();

/** Makes resolvers for fields that are loaded unless known. Without a record, `record` fails; others are null. */
export function recordFields<
  Rec extends { readonly record: unknown },
  Source extends { readonly partial?: Partial<Rec> },
>(load: (source: Source, context: GraphContext) => PromiseOrValue<Rec | null>) {
  const loading = createObjectMemo<{ readonly field: string; readonly record: PromiseOrValue<Rec | null> }>(
    'loading',
  );
  function recordOf(source: Source, context: GraphContext, field: string): PromiseOrValue<Rec | null> {
    const pendingRecord = loading.of(source);
    if (pendingRecord !== undefined) {
      // Rows of one source reach it by the same field; resolved one by one, each would ask for it.
      if (pendingRecord.field === field) context.bill.naive += 1;
      return pendingRecord.record;
    }
    const record = load(source, context);
    loading.put(source, { field, record });
    return record;
  }

  const fromRecord =
    <Field extends keyof Rec & string>(field: Field) =>
    (source: Source, _: unknown, context: GraphContext): PromiseOrValue<Rec[Field] | null> => {
      const value = source.partial?.[field];
      if (value !== undefined) return value;
      return mapValue(recordOf(source, context, field), (record) => {
        if (record !== null) return record[field];
        if (field !== 'record') return null;
        throw new Failure('UPSTREAM_INVALID_RESPONSE', 'The service lists nothing of this key.');
      });
    };

  /** A field made of several of the record; null without a record. */
  const computed =
    <Name extends keyof Rec & string, Args, Result>(
      needs: readonly Name[],
      read: (record: Pick<Rec, Name>, args: Args) => PromiseOrValue<Result>,
    ) =>
    (source: Source, args: Args, context: GraphContext): PromiseOrValue<Result | null> => {
      const { partial } = source;
      if (partial !== undefined && needs.every((name) => partial[name] !== undefined))
        return read(partial as Pick<Rec, Name>, args);
      return mapValue(recordOf(source, context, needs.join()), (record) =>
        record === null ? null : read(record, args),
      );
    };

  const fields = <Name extends keyof Rec & string>(
    names: readonly Name[],
  ): { readonly [Field in Name]: ReturnType<typeof fromRecord<Field>> } =>
    // As above.
    Object.fromEntries(names.map((name) => [name, fromRecord(name)])) as never;
  return Object.assign(fields, { computed });
}
