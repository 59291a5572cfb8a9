import {
  buildASTSchema,
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  parse,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql';

/**
 * Estimate of Apollo Router's demand control for an operation that one subgraph answers, by its published
 * rules: a field weighs as much as its `@cost` says, else as its type, else 1 for an object and 0 for a leaf;
 * weight and selection are taken as often as a list is assumed to be long. Cosmo's published rules come to
 * the same.
 * @param listSize length that lists without `@listSize` are assumed to have: the router's own setting
 */
export function apolloPrice(sdl: string, query: string, listSize: number): number {
  const schema = buildASTSchema(parse(sdl), { assumeValid: true });
  const document = parse(query);
  const [operation] = document.definitions;
  const root = schema.getQueryType();
  if (operation?.kind !== Kind.OPERATION_DEFINITION || !root) throw new TypeError('There is no query.');
  return priceOf(operation.selectionSet, root, { schema, listSize });
}

interface Rules {
  readonly schema: GraphQLSchema;
  readonly listSize: number;
}

function priceOf({ selections }: SelectionSetNode, type: GraphQLNamedType, rules: Rules): number {
  return selections.reduce((sum, selection) => {
    if (selection.kind === Kind.FIELD) return sum + priceOfField(selection, type, rules);
    if (selection.kind === Kind.FRAGMENT_SPREAD)
      throw new TypeError('The operation is to be without named fragments.');
    const condition = selection.typeCondition?.name.value;
    const narrowed = condition === undefined ? type : rules.schema.getType(condition);
    if (narrowed === undefined) throw new TypeError(`There is no type ${condition}.`);
    return sum + priceOf(selection.selectionSet, narrowed, rules);
  }, 0);
}

function priceOfField(node: FieldNode, parent: GraphQLNamedType, rules: Rules): number {
  const name = node.name.value;
  if (name === '__typename') return 0;
  const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
  if (field?.astNode == null) throw new TypeError(`There is no field ${parent.name}.${name}.`);
  const type = getNamedType(field.type);
  const weight =
    directiveArgument(field.astNode, 'cost', 'weight') ??
    directiveArgument(type.astNode, 'cost', 'weight') ??
    (isCompositeType(type) ? 1 : 0);
  const listed = isNonNullType(field.type) ? field.type.ofType : field.type;
  const count = isListType(listed)
    ? (directiveArgument(field.astNode, 'listSize', 'assumedSize') ?? rules.listSize)
    : 1;
  return count * (weight + (node.selectionSet ? priceOf(node.selectionSet, type, rules) : 0));
}

function directiveArgument(
  node: GraphQLNamedType['astNode'] | NonNullable<unknown>,
  directive: string,
  argument: string,
): number | undefined {
  const directives = node && 'directives' in node ? node.directives : undefined;
  const value = directives
    ?.find((other) => other.name.value === directive)
    ?.arguments?.find((other) => other.name.value === argument)?.value;
  return value === undefined ? undefined : Number(valueFromASTUntyped(value));
}
