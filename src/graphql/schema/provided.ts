import type { GraphQLScalarType } from 'graphql';
import type { Resolvers } from './generated.ts';

/**
 * Fields, as `Type.field`, that no resolver map provides.
 * @typeParam Given the maps, as a union
 */
export type Unprovided<Given> = {
  [Type in keyof Resolvers]-?: NonNullable<Resolvers[Type]> extends GraphQLScalarType
    ? never
    : Exclude<Coordinates<Type, NonNullable<Resolvers[Type]>>, ProvidedBy<Given, Type>>;
}[keyof Resolvers];

type ProvidedBy<Given, Type extends string> = Given extends { readonly [Name in Type]: infer Fields }
  ? Coordinates<Type, Fields>
  : never;

type Coordinates<Type extends string, Fields> = `${Type}.${Exclude<keyof Fields & string, `__${string}`>}`;
