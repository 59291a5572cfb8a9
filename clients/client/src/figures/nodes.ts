/** Nodes of a document, as any version of `graphql` parses it. */
export interface Name {
  readonly value: string;
}

export interface ValueNode {
  readonly kind: string;
  /** Of a variable. */
  readonly name?: Name;
  readonly value?: unknown;
  readonly values?: readonly ValueNode[];
}

export interface ArgumentNode {
  readonly name: Name;
  readonly value: ValueNode;
}

export interface SelectionNode {
  readonly kind: string;
  readonly name?: Name;
  readonly alias?: Name;
  readonly arguments?: readonly ArgumentNode[];
  readonly directives?: readonly object[];
  readonly typeCondition?: { readonly name: Name };
  readonly selectionSet?: { readonly selections: readonly SelectionNode[] };
  readonly loc?: { readonly startToken?: Location };
}

/** Where a field stands in the text of its document. */
export interface Location {
  readonly line: number;
  readonly column: number;
}

export interface TypeNode {
  readonly kind: string;
  readonly name?: Name;
  readonly type?: TypeNode;
}

interface VariableNode {
  readonly variable: { readonly name: Name };
  readonly type: TypeNode;
  readonly defaultValue?: ValueNode;
  readonly directives?: readonly object[];
}

export interface DefinitionNode extends SelectionNode {
  readonly operation?: string;
  readonly variableDefinitions?: readonly VariableNode[];
}

export interface DocumentNode {
  readonly kind?: string;
  readonly definitions: readonly DefinitionNode[];
}

export function typeText({ kind, name, type }: TypeNode): string {
  if (kind === 'NamedType' || type === undefined) return name?.value ?? '';
  return kind === 'ListType' ? `[${typeText(type)}]` : `${typeText(type)}!`;
}

/** A constant; undefined if it is, or contains, anything but one of the kinds of an argument of figures. */
export function constantIn(node: ValueNode, type: string): unknown {
  const { kind, value, values = [] } = node;
  const bare = type.replace(/!$/, '');
  if (kind === 'NullValue') return bare === type ? null : undefined;
  if (bare.startsWith('[')) {
    const items = values.map((item) => constantIn(item, bare.slice(1, -1)));
    return kind === 'ListValue' && !items.includes(undefined) ? items : undefined;
  }
  if (kind !== LITERALS[bare]) return undefined;
  return kind === 'IntValue' ? Number(value) : value;
}

const LITERALS: Readonly<Record<string, string>> = {
  Boolean: 'BooleanValue',
  CountryCode: 'StringValue',
  Int: 'IntValue',
  ObservationScope: 'EnumValue',
  String: 'StringValue',
};
