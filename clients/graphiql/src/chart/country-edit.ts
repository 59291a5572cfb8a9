import { type ArgumentNode, type FieldNode, Kind, type TypeNode, type ValueNode, visit } from 'graphql';
import { variablesIn, type Written } from '../variables.ts';
import { defaultsOf, parsedOperation } from './document.ts';
import { replacedIn } from './operation-edit.ts';

/** A way for an operation to ask for other countries. */
export interface CountryEdit {
  /** Those that it names; null if it names none, and so asks for all. */
  readonly codes: readonly string[] | null;
  /** The operation for these countries. */
  with(codes: readonly string[]): Written;
}

const LISTS: ReadonlySet<string> = new Set(['codes', 'countryCodes']);

/** Fields of one country, by the argument that names it, and what they become for several. */
const SINGLE: Readonly<Record<string, { readonly of: string; readonly to: string; readonly rest: string }>> =
  {
    code: { of: 'country', to: 'countries', rest: '' },
    countryCode: { of: 'observation', to: 'observations', rest: ', latest: true, scope: NATIONAL' },
  };

/**
 * Finds where an operation takes its countries: in lists, each of which is replaced, or in its only field of one country, which
 * becomes one of several. Null if it does neither, or can't be read.
 */
export function countryEdit(query: string, text: string, operationName?: string): CountryEdit | null {
  const variables = variablesIn(text);
  if (variables === null) return null;
  try {
    const places = placesIn(query, operationName);
    return ofLists(places, query, text, variables) ?? ofSingle(places, query, text, variables);
  } catch {
    return null;
  }
}

interface Single {
  readonly field: FieldNode;
  readonly argument: ArgumentNode;
}

interface Places {
  readonly lists: readonly ValueNode[];
  readonly singles: readonly Single[];
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly types: ReadonlyMap<string, TypeNode>;
  /** Numbers of places at which each variable is given. */
  readonly uses: ReadonlyMap<string, number>;
}

function placesIn(query: string, operationName: string | undefined): Places {
  const { operation, definitions } = parsedOperation(query, operationName);
  const lists: ValueNode[] = [];
  const singles: Single[] = [];
  const uses = new Map<string, number>();
  for (const one of definitions) {
    if (one !== operation && one.kind !== Kind.FRAGMENT_DEFINITION) continue;
    visit(one, {
      VariableDefinition: () => false,
      Variable({ name }) {
        uses.set(name.value, (uses.get(name.value) ?? 0) + 1);
      },
      Field(field) {
        for (const argument of field.arguments ?? []) {
          if (LISTS.has(argument.name.value)) lists.push(argument.value);
          if (SINGLE[argument.name.value]?.of === field.name.value) singles.push({ field, argument });
        }
      },
    });
  }
  const defined = operation?.variableDefinitions ?? [];
  const types = new Map(defined.map(({ variable, type }) => [variable.name.value, type]));
  return { lists, singles, uses, types, defaults: defaultsOf(operation) };
}

type Variables = Readonly<Record<string, unknown>>;

function ofLists({ lists, defaults }: Places, query: string, text: string, variables: Variables) {
  const [first] = lists;
  const isLiteral = (value: ValueNode) =>
    value.kind !== Kind.LIST || value.values.every(({ kind }) => kind === Kind.STRING);
  if (first === undefined || !lists.every(isLiteral)) return null;
  return {
    codes: codesIn(first, { ...defaults, ...variables }),
    with: (codes: readonly string[]) => ({
      query: replacedIn(
        query,
        lists.filter(({ kind }) => kind !== Kind.VARIABLE).map((value) => [value, listOf(codes)]),
      ),
      variables: given(text, variables, lists, codes),
    }),
  };
}

function ofSingle(places: Places, query: string, text: string, variables: Variables): CountryEdit | null {
  const { singles, types, uses, defaults } = places;
  const [single] = singles;
  if (single === undefined || singles.length > 1) return null;
  const { field, argument } = single;
  const { name, value } = argument;
  const { to, rest } = SINGLE[name.value] as (typeof SINGLE)[string];
  const variable = value.kind === Kind.VARIABLE ? value.name.value : null;
  const type = variable === null ? undefined : types.get(variable);
  // A variable that stands elsewhere, too, stays one country there.
  if (variable === null ? value.kind !== Kind.STRING : type === undefined || uses.get(variable) !== 1)
    return null;
  return {
    codes: codesIn(value, { ...defaults, ...variables }),
    with: (codes) => ({
      query: replacedIn(query, [
        ...(type === undefined ? [] : [[type, '[CountryCode!]'] as const]),
        [field.name, to],
        [name, `${name.value}s`],
        [value, (written) => (variable === null ? listOf(codes) : written) + rest],
      ]),
      variables: given(text, variables, [value], codes),
    }),
  };
}

const listOf = (codes: readonly string[]) => `[${codes.map((code) => JSON.stringify(code)).join(', ')}]`;

function codesIn(value: ValueNode, variables: Variables): readonly string[] | null {
  const codes =
    value.kind === Kind.VARIABLE
      ? variables[value.name.value]
      : value.kind === Kind.LIST
        ? value.values.flatMap((one) => (one.kind === Kind.STRING ? one.value : []))
        : value.kind === Kind.STRING
          ? value.value
          : null;
  return codes == null ? null : [codes].flat().map((code) => String(code).toUpperCase());
}

/** The variables with these countries for those among the values. */
function given(text: string, variables: Variables, values: readonly ValueNode[], codes: readonly string[]) {
  const names = values.flatMap((value) => (value.kind === Kind.VARIABLE ? value.name.value : []));
  if (names.length === 0) return text;
  const changed = Object.fromEntries(names.map((name) => [name, codes]));
  return JSON.stringify({ ...variables, ...changed }, null, 2);
}
