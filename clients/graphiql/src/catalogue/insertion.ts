import {
  type GraphQLSchema,
  getNamedType,
  Kind,
  parse,
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** A text to put between two offsets of another. */
export interface Insertion {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The figure of an indicator, for an operation that asks for countries: in the selection of a country that
 * the cursor stands in, otherwise in the first one. Null if there is none, or the operation can't be read.
 */
export function figureInsertion(
  query: string,
  offset: number,
  key: string,
  schema: GraphQLSchema,
): Insertion | null {
  const set = countrySelection(query, offset, schema);
  if (set?.loc === undefined) return null;
  const taken = new Set(
    set.selections.flatMap((one) => (one.kind === Kind.FIELD ? [(one.alias ?? one.name).value] : [])),
  );
  const at = set.loc.end - 1;
  const lineStart = query.lastIndexOf('\n', at - 1) + 1;
  const indent = /^[ \t]*/.exec(query.slice(lineStart))?.[0] ?? '';
  const isOwnLine = query.slice(lineStart, at).trim() === '';
  const field = `${aliasFor(key, taken)}: observation(metricKey: ${JSON.stringify(key)}) { value year unit }`;
  return isOwnLine
    ? { start: lineStart, end: lineStart, text: `${indent}  ${field}\n` }
    : { start: at, end: at, text: ` ${field} ` };
}

/** An operation for a map of an indicator, for a page that has none to put it in. */
export function figureOperation(key: string): string {
  const name = aliasFor(key, new Set());
  return `query ${name.charAt(0).toUpperCase()}${name.slice(1)} {
  countries {
    code
    name
    observation(metricKey: ${JSON.stringify(key)}) {
      value
      year
      unit
      source {
        key
      }
    }
  }
}
`;
}

/** The edit of the rest of a string after which the string is that name. */
export function literalInsertion(query: string, offset: number, before: string, name: string): Insertion {
  const rest = /^[^"\n]*/.exec(query.slice(offset))?.[0].length ?? 0;
  return { start: offset - before.length, end: offset + rest, text: name };
}

function countrySelection(query: string, offset: number, schema: GraphQLSchema): SelectionSetNode | null {
  let first: SelectionSetNode | null = null;
  let around: SelectionSetNode | null = null;
  try {
    const types = new TypeInfo(schema);
    visit(
      parse(query),
      visitWithTypeInfo(types, {
        SelectionSet(node) {
          if (getNamedType(types.getParentType())?.name !== 'Country') return;
          first ??= node;
          if (node.loc !== undefined && node.loc.start < offset && offset < node.loc.end) around = node;
        },
      }),
    );
  } catch {
    return null;
  }
  return around ?? first;
}

/** `population_total` as `populationTotal`, and with a number if that is taken. */
function aliasFor(key: string, taken: ReadonlySet<string>): string {
  const plain = key.replace(/[^A-Za-z0-9]+(\w?)/g, (_, next: string) => next.toUpperCase());
  const name = /^[A-Za-z]/.test(plain) ? plain : `figure${plain}`;
  let alias = name;
  for (let n = 2; taken.has(alias); n += 1) alias = `${name}${n}`;
  return alias;
}
