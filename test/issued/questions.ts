import { globSync, readFileSync } from 'node:fs';
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';

/** Values of arguments by their names: there is something for each of them. */
const VALUES: Readonly<Record<string, unknown>> = {
  code: 'KE',
  countryCode: 'KE',
  countryCodes: ['KE'],
  codes: ['KE'],
  metricKey: 'population_total',
  metricKeys: ['population_total'],
  keys: ['population_total'],
  key: 'population_total',
  exchangeCode: 'NGX',
  symbol: 'DANGCEM',
  reporterCode: 'KE',
};

/** Values of arguments of some fields. */
const OF_FIELDS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'Query.source': { key: 'world_bank_wdi' },
  'Subscription.sourceRefreshed': { keys: null },
};

/** A question that reads one field of the schema. */
export interface Question {
  /** As `Type.field`. */
  readonly field: string;
  readonly text: string;
  /** Tags that the SDL gives to the types on its way. */
  readonly typeTags: ReadonlySet<string>;
}

/** Tags of types as the texts of the SDL have them. */
const TAG_BY_TYPE: ReadonlyMap<string, string> = new Map(
  globSync('{schema,src/plugins/*}/*.graphql').flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/^type (\w+).*@tag\(name: "(\w+)"\)/gm)].map(
      ([, type = '', tag = '']) => [type, tag] as const,
    ),
  ),
);

const literal = (value: unknown) => JSON.stringify(value);

function argsOf(owner: string, { name, args }: GraphQLField<unknown, unknown>): string {
  const given = args.flatMap((argument: GraphQLArgument) => {
    const own = OF_FIELDS[`${owner}.${name}`]?.[argument.name];
    const value = own === undefined ? VALUES[argument.name] : own;
    if (value == null) {
      if (isRequiredArgument(argument)) throw new Error(`Nothing is known to ask ${owner}.${name} for.`);
      return [];
    }
    const type = isNonNullType(argument.type) ? argument.type.ofType : argument.type;
    if (isListType(type) !== Array.isArray(value)) throw new Error(`${owner}.${name}(${argument.name}:)`);
    return `${argument.name}: ${literal(value)}`;
  });
  return given.length === 0 ? '' : `(${given.join(', ')})`;
}

const isOwn = (name: string) => !name.startsWith('_');

/** The way from a root to the objects of a type: what stands before and after their selection, and the types on it. */
interface Way {
  readonly before: string;
  readonly after: string;
  readonly types: readonly string[];
}

/** Returns the shortest way to each object type from a root. */
function waysFrom(root: GraphQLObjectType): ReadonlyMap<GraphQLObjectType, Way> {
  const ways = new Map([[root, { before: '{ ', after: ' }', types: [] } as Way]]);
  for (const [type, way] of ways) {
    for (const field of Object.values(type.getFields()).filter(({ name }) => isOwn(name))) {
      const below = getNamedType(field.type);
      if (!isObjectType(below) || ways.has(below)) continue;
      const before = `${way.before}${field.name}${argsOf(type.name, field)} { `;
      ways.set(below, { before, after: ` }${way.after}`, types: [...way.types, below.name] });
    }
  }
  return ways;
}

function tagsOf(types: readonly string[]): ReadonlySet<string> {
  return new Set(types.flatMap((type) => TAG_BY_TYPE.get(type) ?? []));
}

function selectionOf(owner: string, field: GraphQLField<unknown, unknown>): string {
  const type = getNamedType(field.type);
  const below = isLeafType(type) ? '' : ' { __typename }';
  return `${field.name}${owner === '' ? '' : argsOf(owner, field)}${below}`;
}

/** Lists a question for each field that leads from a root, but for those that need an identifier. */
export function fieldQuestions(root: GraphQLObjectType, operation = ''): readonly Question[] {
  return [...waysFrom(root)].flatMap(([type, { before, after, types }]) =>
    Object.values(type.getFields())
      .filter(({ name, args }) => isOwn(name) && !args.some(({ name }) => name === 'id' || name === 'ids'))
      .map((field) => ({
        field: `${type.name}.${field.name}`,
        text: `${operation}${before}${selectionOf(type.name, field)}${after}`,
        typeTags: tagsOf([...types, type.name, getNamedType(field.type).name]),
      })),
  );
}

/** A question for an object by its identifier or its key. */
export interface IdQuestion extends Question {
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * Lists questions for each field of each type that is found by an identifier or a key: with a fragment of the type, and
 * with a selection that names nothing of it.
 * @param ids identifiers by type
 * @param keys fields of a router's representation by type
 */
export function idQuestions(
  schema: GraphQLSchema,
  ids: Readonly<Record<string, string>>,
  keys: Readonly<Record<string, Readonly<Record<string, string>>>>,
): readonly IdQuestion[] {
  const node = schema.getType('Node');
  if (!isInterfaceType(node)) throw new Error('There is no Node.');
  return schema.getPossibleTypes(node).flatMap((type) => {
    const id = ids[type.name];
    if (id === undefined) throw new Error(`No identifier of ${type.name} is known.`);
    // A field that takes no call is told by its type alone.
    const selections = [
      ...Object.values(type.getFields()).map((field) => ({
        selection: `__typename ... on ${type.name} { ${selectionOf(type.name, field)} }`,
        typeTags: tagsOf([type.name, getNamedType(field.type).name]),
      })),
      ...['__typename', '... on Node { id }', '... { ...F }'].map((selection) => ({
        selection,
        typeTags: tagsOf([type.name]),
      })),
    ];
    const doors = [
      { open: 'query ($id: ID!) { node(id: $id)', variables: { id } },
      { open: 'query ($ids: [ID!]!) { nodes(ids: $ids)', variables: { ids: [id] } },
      ...[{ id }, keys[type.name] ?? {}].map((key) => ({
        open: 'query ($some: [_Any!]!) { _entities(representations: $some)',
        variables: { some: [{ __typename: type.name, ...key }] },
      })),
    ];
    return doors.flatMap(({ open, variables }) =>
      selections.map(({ selection, typeTags }) => ({
        field: `${type.name} ${selection}`,
        text: `${open} { ${selection} } }${selection.includes('...F') ? ' fragment F on Node { id }' : ''}`,
        typeTags,
        variables,
      })),
    );
  });
}
