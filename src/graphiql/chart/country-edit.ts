import { type ArgumentNode, Kind, parse, visit } from 'graphql';
import { variablesIn, type Written } from '../variables.ts';

const LISTS: ReadonlySet<string> = new Set(['codes', 'countryCodes']);
const SINGLE: ReadonlySet<string> = new Set(['code', 'countryCode']);

/** A way for an operation to take one more country: in a list that it has, or in place of the only one. */
export interface CountryEdit {
  readonly how: 'add' | 'replace';
  /** The operation with the country. */
  with(code: string): Written;
}

/** Null if the operation names no countries, or can't be read. */
export function countryEdit(query: string, variables: string): CountryEdit | null {
  const matches: ArgumentNode[] = [];
  try {
    visit(parse(query), {
      Argument(node) {
        if (LISTS.has(node.name.value) || SINGLE.has(node.name.value)) matches.push(node);
      },
    });
  } catch {
    return null;
  }
  const list = matches.find(({ name }) => LISTS.has(name.value));
  const argument = list ?? matches[0];
  const { value } = argument ?? {};
  if (value === undefined) return null;
  const how = list === undefined ? 'replace' : 'add';
  if (value.kind === Kind.VARIABLE) return throughVariables(query, variables, value.name.value, how);
  if (value.loc === undefined || (value.kind !== Kind.LIST && value.kind !== Kind.STRING)) return null;
  const { start, end } = value.loc;
  const replaced = (from: number, text: string) => ({
    query: query.slice(0, from) + text + query.slice(end),
    variables,
  });
  if (value.kind === Kind.LIST) {
    const comma = value.values.length > 0 ? ', ' : '';
    return { how, with: (code) => replaced(end - 1, `${comma}${JSON.stringify(code)}]`) };
  }
  return how === 'add'
    ? { how, with: (code) => replaced(start, `[${query.slice(start, end)}, ${JSON.stringify(code)}]`) }
    : { how, with: (code) => replaced(start, JSON.stringify(code)) };
}

function throughVariables(
  query: string,
  text: string,
  name: string,
  how: CountryEdit['how'],
): CountryEdit | null {
  const variables = variablesIn(text);
  if (variables === null || !(name in variables)) return null;
  const given = variables[name];
  return {
    how,
    with: (code) => {
      const value = how === 'replace' ? code : [...(Array.isArray(given) ? given : [given]), code];
      return { query, variables: JSON.stringify({ ...variables, [name]: value }, null, 2) };
    },
  };
}
