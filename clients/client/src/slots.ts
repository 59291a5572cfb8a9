import type { Selection } from './documents.ts';
import { isNamedBy } from './keys.ts';
import { OBJECT_FIELDS } from './types-of-schema.ts';

type Values = Readonly<Record<string, unknown>>;

/** A selection of an object that it doesn't identify, as a text, and the variables that this hangs on: null for all. */
export interface Slot {
  readonly text: string;
  readonly variables: readonly string[] | null;
}

/** Null if the selection identifies the object: then that is kept by itself. */
export function slotOf(field: Selection, typename: string): Slot | null {
  if (isIdentified(field, typename)) return null;
  const variables = new Set<string | null>();
  const text = selectionsText(field, typename, variables);
  return { text, variables: variables.has(null) ? null : ([...variables].sort() as string[]) };
}

/** The name of a field in a store, with its arguments as Apollo Client spells them by itself. */
export function storeNameOf(
  name: string,
  args: Values | null,
  slot: Slot | null,
  variables: Values = {},
): string {
  const call = args === null ? name : `${name}(${canonical(args)})`;
  if (slot === null) return call;
  const used =
    slot.variables === null
      ? variables
      : Object.fromEntries(slot.variables.map((one) => [one, variables[one]]));
  return `${call}{${slot.text}}${Object.keys(used).length === 0 ? '' : canonical(used)}`;
}

/** Fragments that are defined elsewhere are not looked into: they may well identify it, and it is kept apart in vain. */
function isIdentified(node: Selection, typename: string): boolean {
  const names = new Set<string>();
  collect(node);
  return isNamedBy(typename, names);

  function collect({ selectionSet }: Selection): void {
    for (const one of selectionSet?.selections ?? []) {
      if ((one.directives ?? []).length > 0) continue;
      if (one.kind === 'Field') names.add(one.name?.value ?? '');
      else if ((one.typeCondition?.name.value ?? typename) === typename) collect(one);
    }
  }
}

function selectionsText(
  node: Selection,
  typename: string | undefined,
  variables: Set<string | null>,
): string {
  const texts = (node.selectionSet?.selections ?? [])
    .filter(({ name }) => name?.value !== '__typename')
    .map((one) => {
      const { kind, name, typeCondition, selectionSet } = one;
      const directives = (one.directives ?? []).map((at) => `@${callText(at, variables)}`).join('');
      if (kind === 'FragmentSpread') {
        variables.add(null);
        return `...${name?.value}${directives}`;
      }
      const isField = kind === 'Field';
      const own = isField
        ? callText({ name: name ?? { value: '' }, ...one }, variables)
        : `...${typeCondition?.name.value ?? ''}`;
      const type = isField
        ? OBJECT_FIELDS[typename ?? '']?.[name?.value ?? '']
        : (typeCondition?.name.value ?? typename);
      const isWhole =
        selectionSet === undefined || (isField && type !== undefined && isIdentified(one, type));
      return `${own}${directives}${isWhole ? '' : `{${selectionsText(one, type, variables)}}`}`;
    });
  return [...new Set(texts)].sort().join(' ');
}

type Call = Required<Pick<Selection, 'name'>> & Pick<Selection, 'arguments'>;

function callText({ name, arguments: args = [] }: Call, variables: Set<string | null>): string {
  if (args.length === 0) return name.value;
  return `${name.value}(${args.map((one) => `${one.name.value}:${valueText(one.value, variables)}`).sort()})`;
}

interface Value {
  readonly kind?: string;
  readonly name?: { readonly value: string };
  readonly value?: unknown;
  readonly values?: readonly Value[];
  readonly fields?: readonly { readonly name: { readonly value: string }; readonly value: Value }[];
}

function valueText({ kind, name, value, values, fields }: Value, variables: Set<string | null>): string {
  if (kind === 'Variable') variables.add(name?.value ?? '');
  if (kind === 'Variable') return `$${name?.value}`;
  if (values !== undefined) return `[${values.map((one) => valueText(one, variables))}]`;
  if (fields !== undefined)
    return `{${fields.map((one) => `${one.name.value}:${valueText(one.value, variables)}`)}}`;
  return kind === 'StringValue' ? JSON.stringify(value) : String(value ?? null);
}

/** JSON whose keys are in order. */
function canonical(value: Values): string {
  return JSON.stringify(value, (_key, one) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}
