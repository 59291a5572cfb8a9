import {
  type ConstDirectiveNode,
  type DefinitionNode,
  type DocumentNode,
  type FieldDefinitionNode,
  isTypeDefinitionNode,
  Kind,
  type TypeDefinitionNode,
  type TypeNode,
} from 'graphql';

/** For everything outside of tagged types. */
const BASE_TAG = 'base';

/**
 * Extends the tags of types to the whole SDL, for contracts: a field and its arguments get the tag of the type that
 * it leads to, the rest gets `base`. A contract without a tag then has nothing that leads to it.
 */
export function tagForContracts(document: DocumentNode): DocumentNode {
  const definitions = withoutExtensions(document.definitions);
  const tagged = new Map(
    definitions.filter(isTypeDefinitionNode).flatMap((type) => {
      const tag = tagOf(type);
      return tag === null ? [] : [[type.name.value, tag] as const];
    }),
  );
  return { ...document, definitions: definitions.map((definition) => spread(definition, tagged)) };
}

/** Merges extensions: a tag is for a type with all of its fields, or for each field. */
function withoutExtensions(definitions: readonly DefinitionNode[]): DefinitionNode[] {
  const added = new Map<string, FieldDefinitionNode[]>();
  for (const definition of definitions) {
    if (definition.kind !== Kind.OBJECT_TYPE_EXTENSION) continue;
    const { name, fields = [] } = definition;
    added.set(name.value, [...(added.get(name.value) ?? []), ...fields]);
  }
  return definitions
    .filter(({ kind }) => kind !== Kind.OBJECT_TYPE_EXTENSION)
    .map((definition) => {
      if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION) return definition;
      const { name, fields = [] } = definition;
      return { ...definition, fields: [...fields, ...(added.get(name.value) ?? [])] };
    });
}

function spread(definition: DefinitionNode, tagged: ReadonlyMap<string, string>): DefinitionNode {
  if (!isTypeDefinitionNode(definition) || tagOf(definition) !== null) return definition;
  if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION) return withTag(definition, BASE_TAG);
  const leadingTo = (field: FieldDefinitionNode) => tagged.get(nameIn(field.type)) ?? BASE_TAG;
  const { fields = [] } = definition;
  if (fields.every((field) => leadingTo(field) === BASE_TAG)) return withTag(definition, BASE_TAG);
  return { ...definition, fields: fields.map((field) => tagField(field, leadingTo(field))) };
}

function tagField(field: FieldDefinitionNode, tag: string): FieldDefinitionNode {
  const { arguments: given = [] } = field;
  return { ...withTag(field, tag), arguments: given.map((argument) => withTag(argument, tag)) };
}

export function tagOf({ directives = [] }: TypeDefinitionNode): string | null {
  const value = directives
    .find(({ name }) => name.value === 'tag')
    ?.arguments?.find(({ name }) => name.value === 'name')?.value;
  return value?.kind === Kind.STRING ? value.value : null;
}

function withTag<Node extends { readonly directives?: readonly ConstDirectiveNode[] | undefined }>(
  node: Node,
  tag: string,
): Node {
  const directive: ConstDirectiveNode = {
    kind: Kind.DIRECTIVE,
    name: { kind: Kind.NAME, value: 'tag' },
    arguments: [
      {
        kind: Kind.ARGUMENT,
        name: { kind: Kind.NAME, value: 'name' },
        value: { kind: Kind.STRING, value: tag },
      },
    ],
  };
  return { ...node, directives: [...(node.directives ?? []), directive] };
}

function nameIn(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : nameIn(type.type);
}
