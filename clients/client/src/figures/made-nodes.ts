/** Nodes of documents that are made here, in the form of `graphql`'s own, and their text. */
interface Name {
  readonly kind: 'Name';
  readonly value: string;
}

export interface MadeNode {
  readonly kind: string;
  readonly operation?: 'query';
  readonly name?: Name;
  readonly alias?: Name;
  readonly variable?: MadeNode;
  readonly type?: MadeNode;
  readonly value?: MadeNode;
  readonly variableDefinitions?: readonly MadeNode[];
  readonly arguments?: readonly MadeNode[];
  readonly directives?: readonly MadeNode[];
  readonly selectionSet?: MadeNode;
  readonly selections?: readonly MadeNode[];
}

const nameNode = (value: string): Name => ({ kind: 'Name', value });

const variableNode = (name: string): MadeNode => ({ kind: 'Variable', name: nameNode(name) });

const selectionSet = (selections: readonly MadeNode[]): MadeNode => ({
  kind: 'SelectionSet',
  selections,
});

function typeNode(text: string): MadeNode {
  if (text.endsWith('!')) return { kind: 'NonNullType', type: typeNode(text.slice(0, -1)) };
  if (text.startsWith('[')) return { kind: 'ListType', type: typeNode(text.slice(1, -1)) };
  return { kind: 'NamedType', name: nameNode(text) };
}

export const variableDefinition = (name: string, type: string): MadeNode => ({
  kind: 'VariableDefinition',
  variable: variableNode(name),
  type: typeNode(type),
});

const argumentNode = ([name, variable]: readonly [string, string]): MadeNode => ({
  kind: 'Argument',
  name: nameNode(name),
  value: variableNode(variable),
});

export const includedIf = (variable: string): MadeNode => ({
  kind: 'Directive',
  name: nameNode('include'),
  arguments: [argumentNode(['if', variable])],
});

export function fieldNode(
  response: string,
  name: string,
  selections: readonly MadeNode[] = [],
  variables: Readonly<Record<string, string>> = {},
  directives: readonly MadeNode[] = [],
): MadeNode {
  return {
    kind: 'Field',
    ...(response === name ? {} : { alias: nameNode(response) }),
    name: nameNode(name),
    arguments: Object.entries(variables).map(argumentNode),
    directives,
    ...(selections.length === 0 ? {} : { selectionSet: selectionSet(selections) }),
  };
}

export const queryNode = (
  name: string | undefined,
  variableDefinitions: readonly MadeNode[],
  selections: readonly MadeNode[],
): MadeNode => ({
  kind: 'OperationDefinition',
  operation: 'query',
  ...(name === undefined ? {} : { name: nameNode(name) }),
  variableDefinitions,
  selectionSet: selectionSet(selections),
});

export function textOf(node: MadeNode | undefined): string {
  if (node === undefined) return '';
  const { kind, name, alias, variable, type, value, directives = [], selectionSet, selections = [] } = node;
  const own = name?.value ?? '';
  const inner = [...(node.variableDefinitions ?? []), ...(node.arguments ?? [])].map(textOf).join(', ');
  const args = inner === '' ? '' : `(${inner})`;
  const further = directives.map((one) => ` ${textOf(one)}`).join('');
  const below = selectionSet === undefined ? '' : ` ${textOf(selectionSet)}`;
  switch (kind) {
    case 'OperationDefinition':
      return `query ${own}${args}${below}`;
    case 'VariableDefinition':
      return `${textOf(variable)}: ${textOf(type)}`;
    case 'SelectionSet':
      return `{ ${selections.map(textOf).join(' ')} }`;
    case 'Field':
      return `${alias === undefined ? '' : `${alias.value}: `}${own}${args}${further}${below}`;
    case 'Directive':
      return `@${own}${args}`;
    case 'Argument':
      return `${own}: ${textOf(value)}`;
    case 'Variable':
      return `$${own}`;
    case 'NonNullType':
      return `${textOf(type)}!`;
    case 'ListType':
      return `[${textOf(type)}]`;
    default:
      return own;
  }
}
