import type { GraphQLObjectType } from 'graphql';
import { openSchema } from '../../src/gateway/open-schema.ts';
import type { SchemaPart } from '../../src/graphql/schema/schema.ts';
import { Failure } from '../../src/shared/errors.ts';

/** A schema in which each citation, a field that is never null, fails. */
export async function brokenSchema(parts: readonly SchemaPart[] = []) {
  const schema = await openSchema(parts);
  const { citation } = (schema.getType('Observation') as GraphQLObjectType).getFields();
  const resolve = () => {
    throw new Failure('UPSTREAM_INVALID_RESPONSE', 'There is no citation.');
  };
  Object.assign(citation ?? {}, { resolve, extensions: {} });
  return schema;
}
