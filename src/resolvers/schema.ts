import type { GraphQLResolveInfo, GraphQLSchema } from 'graphql';
import type { PromiseOrValue } from '../async/turns.ts';
import { Failure } from '../errors.ts';
import type { GraphContext } from '../graph/context.ts';
import { decodeId, type GlobalId } from '../graph/ids.ts';
import { CountryCode, createSchema, type Representation, readSdl } from '../graph/schema.ts';
import { marksAskedAhead } from '../graph/selection.ts';
import type { Endpoint } from '../service/call.ts';
import type { Subgraph } from '../wings/federation/subgraph.ts';
import { countryByCode, countryByIso3 } from './countries.ts';
import { indicatorByKey, sourceByKey } from './indicators.ts';
import { nodeById } from './nodes.ts';
import { tickerBySymbol } from './reference.ts';
import { batches, extras, resolvers } from './resolvers.ts';

/** Finds an entity by the key fields of a router's representation. */
function reference<Entity extends object>(
  find: (
    representation: Representation,
    context: GraphContext,
    info: GraphQLResolveInfo,
  ) => PromiseOrValue<Entity | null>,
) {
  return { __resolveReference: find };
}

/** @throws Failure BAD_USER_INPUT if the representation lacks the key */
function keyIn(representation: Representation, field: string): string {
  const value = representation[field];
  if (typeof value === 'string' && value !== '') return value;
  const type = String(representation.__typename);
  throw new Failure('BAD_USER_INPUT', `A representation of ${type} needs \`${field}\` as a string.`);
}

/** @throws Failure BAD_USER_INPUT if it is not of three letters */
function iso3In(representation: Representation): string {
  const iso3 = keyIn(representation, 'iso3').toUpperCase();
  if (/^[A-Z]{3}$/.test(iso3)) return iso3;
  const shown = JSON.stringify(iso3.slice(0, MAX_SHOWN));
  throw new Failure('BAD_USER_INPUT', `An \`iso3\` is three letters, such as KEN; this is ${shown}.`);
}

/** Characters of a caller's text that are repeated to them. */
const MAX_SHOWN = 100;

function codeIn(representation: Representation): string {
  try {
    return CountryCode.parseValue(keyIn(representation, 'code'));
  } catch (error) {
    throw error instanceof Failure ? error : new Failure('BAD_USER_INPUT', (error as Error).message);
  }
}

/**
 * Finds an object by a global identifier. The batch doesn't wait for it: either the batch itself brings it, or
 * `nodeById` holds the batch back.
 * @param type type that it has to be of; null for any
 * @throws Failure BAD_USER_INPUT if it is of another one
 */
function byId(
  type: GlobalId['type'] | null,
  representation: Representation,
  context: GraphContext,
  info: GraphQLResolveInfo,
) {
  const id = keyIn(representation, 'id');
  const found = decodeId(id).type;
  if (type === null || found === type) return marksAskedAhead(nodeById(id, context, info));
  throw new Failure('BAD_USER_INPUT', `This \`id\` is that of ${found}, not of ${type}.`);
}

/** Finds an entity by the key in the representation: its own key if that is there, else its identifier. */
function keyed<Entity extends object>(
  type: GlobalId['type'],
  key: string,
  find: Parameters<typeof reference<Entity>>[0],
) {
  return reference<object>((ref, context, info) =>
    ref[key] === undefined && ref.id !== undefined
      ? byId(type, ref, context, info)
      : find(ref, context, info),
  );
}

/** The types that other subgraphs may refer to, each with the way from a reference to an object of ours. */
export const entities = {
  Country: keyed('Country', 'code', (ref, context, info) =>
    ref.code === undefined && ref.iso3 !== undefined
      ? countryByIso3(iso3In(ref), context, info)
      : countryByCode(codeIn(ref), context, info),
  ),
  Indicator: keyed('Indicator', 'key', (ref, context, info) =>
    indicatorByKey(keyIn(ref, 'key'), context, info, false),
  ),
  Source: keyed('Source', 'key', (ref, context) => sourceByKey(keyIn(ref, 'key'), context)),
  Ticker: keyed('Ticker', 'symbol', (ref, context) =>
    tickerBySymbol(keyIn(ref, 'exchangeCode'), keyIn(ref, 'symbol'), context),
  ),
  Observation: reference((ref, context, info) => byId('Observation', ref, context, info)),
  Office: reference((ref, context, info) => byId('Office', ref, context, info)),
  Node: reference((ref, context, info) => byId(null, ref, context, info)),
};

interface OpenedSchema {
  readonly schema: GraphQLSchema;
  /** Further endpoints that its optional parts call. */
  readonly optionalEndpoints: readonly Endpoint[];
}

/**
 * The executable schema, with the parts of `schema/extra` of some names; nothing of the others is loaded.
 * @throws TypeError naming a field that nothing provides
 */
export async function openSchema(
  names: readonly (keyof typeof extras)[],
  subgraph: Subgraph | null = null,
): Promise<OpenedSchema> {
  const opened = await Promise.all(names.map((name) => extras[name]()));
  const all = [...resolvers, ...opened.map((extra) => extra.resolvers)];
  return {
    schema: createSchema({ subgraph, sdl: readSdl(names), resolvers: all, entities, batches }),
    optionalEndpoints: opened.flatMap(({ endpoints }): readonly Endpoint[] => Object.values(endpoints)),
  };
}
