import type { GraphQLResolveInfo } from 'graphql';
import type { PromiseOrValue } from '../../shared/async/promises.ts';
import { Failure } from '../../shared/errors.ts';
import type { GraphContext } from '../schema/context.ts';
import type { Representation } from '../schema/entities.ts';
import type { Resolvers, ResolversTypes } from '../schema/generated.ts';
import { isPrefetched, markPrefetched } from '../schema/loading.ts';
import { CountryCode } from '../schema/scalars.ts';
import { gatesBatch } from '../schema/selection.ts';
import { checkMetricKey } from './argument-checks.ts';
import { countryByIso3, countryNamed } from './countries.ts';
import { indicatorByKey, sourceByKey } from './indicators.ts';
import { decodeId } from './lists.ts';
import { observationOf } from './observation-ids.ts';
import { officeById, tickerBySymbol } from './reference.ts';
import { warnedOfPeriods, warnOfRevised } from './warned.ts';

type AnyNode = Awaited<ResolversTypes['Node']>;
type Decoded = ReturnType<typeof decodeId>;

type NamedNode = AnyNode & { __typename: Decoded['type'] };

/**
 * The object of a global identifier; rejects with Failure BAD_USER_INPUT if the text isn't one. The batch waits for it
 * only while it is loading and figures below it may still be asked for.
 */
function nodeById(id: string, context: GraphContext, info: GraphQLResolveInfo): Promise<NamedNode | null> {
  const named = async (): Promise<NamedNode | null> => {
    const decoded = decodeId(id);
    const { type } = decoded;
    const finding = find(id, decoded, context, info);
    const isLoading = finding instanceof Promise && type !== 'Observation' && !isPrefetched(finding);
    if (isLoading && gatesBatch(info.field)) context.batchGate.closeDuring(finding);
    const node = await finding;
    return node === null ? null : { ...node, __typename: type };
  };
  return markPrefetched(named());
}

function find(
  id: string,
  { type, key }: Decoded,
  context: GraphContext,
  info: GraphQLResolveInfo,
): PromiseOrValue<AnyNode | null> {
  const [first = '', second = ''] = key;
  switch (type) {
    case 'Country':
      return countryNamed(first, context, info);
    case 'Indicator':
      return indicatorByKey(first, context, info, false);
    case 'Source':
      return sourceByKey(first, context);
    case 'Ticker':
      return tickerBySymbol(first, second, context);
    case 'Office':
      return officeById(id, first, context);
    case 'Observation':
      return observationById(key, context, info);
  }
}

async function observationById(
  key: readonly string[],
  context: GraphContext,
  { path }: GraphQLResolveInfo,
): Promise<AnyNode | null> {
  const [countryCode = '', metricKey = ''] = key;
  checkMetricKey(metricKey);
  const wanted = { mode: 'series', countryCodes: [countryCode], metricKeys: [metricKey] } as const;
  const rows = await context.loaders.observations.rows({ ...wanted, maxAgeMs: Number.POSITIVE_INFINITY });
  const figure = observationOf(key, rows);
  if (figure === null) return null;
  if (figure.isRevised) warnOfRevised(context, path, key, figure.row);
  warnedOfPeriods(context, () => path, [figure.row]);
  return figure.row;
}

export const resolvers = {
  Query: {
    node: (_, { id }, context, info) => nodeById(id, context, info),
    nodes: (_, { ids }, context, info) => ids.map((id) => nodeById(id, context, info)) as Promise<AnyNode>[],
  },
} satisfies Resolvers;

/** Finds an entity by the key fields of a router's representation. */
type Find = (
  representation: Representation,
  context: GraphContext,
  info: GraphQLResolveInfo,
) => PromiseOrValue<object | null>;

const reference = (find: Find) => ({ __resolveReference: find });

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

/** Characters of a caller's text that an error quotes. */
const MAX_SHOWN = 100;

function codeIn(representation: Representation): string {
  try {
    return CountryCode.parseValue(keyIn(representation, 'code'));
  } catch (error) {
    throw error instanceof Failure ? error : new Failure('BAD_USER_INPUT', (error as Error).message);
  }
}

/**
 * Finds an object by a global identifier. The batch doesn't wait for it: either the batch itself loads it, or
 * `nodeById` delays the batch.
 * @param type the required type; null for any
 * @throws Failure BAD_USER_INPUT if it has another type
 */
function byId(
  type: Decoded['type'] | null,
  representation: Representation,
  context: GraphContext,
  info: GraphQLResolveInfo,
) {
  const id = keyIn(representation, 'id');
  const idType = decodeId(id).type;
  if (type === null || idType === type) return nodeById(id, context, info);
  throw new Failure('BAD_USER_INPUT', `This \`id\` is that of ${idType}, not of ${type}.`);
}

/** Finds an entity by its representation: by its natural key if present, otherwise by its identifier. */
function keyed(type: Decoded['type'], key: string, find: Find) {
  return reference((ref, context, info) =>
    ref[key] === undefined && ref.id !== undefined
      ? byId(type, ref, context, info)
      : find(ref, context, info),
  );
}

/** The types that other subgraphs may reference, each with its reference resolver. */
export const entities = {
  Country: keyed('Country', 'code', (ref, context, info) =>
    ref.code === undefined && ref.iso3 !== undefined
      ? countryByIso3(iso3In(ref), context, info)
      : countryNamed(codeIn(ref), context, info),
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
