import {
  type ConstDirectiveNode,
  type DocumentNode,
  type EnumTypeDefinitionNode,
  type FieldDefinitionNode,
  type InputObjectTypeDefinitionNode,
  type InputValueDefinitionNode,
  type InterfaceTypeDefinitionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
  type ScalarTypeDefinitionNode,
  type TypeNode,
} from 'graphql';
import { readSdl } from '../../src/graph/schema.ts';
import { type FieldCost, takeCosts } from '../../src/graph/selection.ts';

export type DescribedType =
  | ObjectTypeDefinitionNode
  | InterfaceTypeDefinitionNode
  | InputObjectTypeDefinitionNode
  | EnumTypeDefinitionNode
  | ScalarTypeDefinitionNode;

/** The graph as the site describes it. */
export interface SchemaModel {
  readonly types: readonly DescribedType[];
  /** Calls that a field may ask the service for; `NOTHING` if the SDL has no word of it. */
  costOf(type: string, field: string): FieldCost;
  /** Uses of a type: `Type.field` of fields, and of fields whose arguments are of it. */
  usesOf(type: string): readonly string[];
}

const BUILT_IN = ['String', 'Int', 'Float', 'Boolean', 'ID'];

export function readSchemaModel(): SchemaModel {
  const { typeDefs, said } = takeCosts(parse(readSdl()));
  const types = describedTypes(typeDefs);
  const uses = new Map<string, string[]>();
  for (const type of types) {
    if (!('fields' in type)) continue;
    for (const field of type.fields ?? []) {
      const args = 'arguments' in field ? (field.arguments ?? []) : [];
      const names = new Set([field, ...args].map((used) => nameIn(used.type)));
      for (const name of names)
        uses.set(name, [...(uses.get(name) ?? []), `${type.name.value}.${field.name.value}`]);
    }
  }
  return {
    types,
    costOf: (type, field) => said.get(`${type}.${field}`) ?? 'NOTHING',
    usesOf: (type) => uses.get(type) ?? [],
  };
}

/** Types with the fields that extensions add to them. */
function describedTypes({ definitions }: DocumentNode): DescribedType[] {
  const added = definitions.filter((one) => one.kind === Kind.OBJECT_TYPE_EXTENSION);
  return definitions.flatMap((type): DescribedType[] => {
    switch (type.kind) {
      case Kind.OBJECT_TYPE_DEFINITION: {
        const further = added.filter(({ name }) => name.value === type.name.value);
        return [
          { ...type, fields: [...(type.fields ?? []), ...further.flatMap(({ fields = [] }) => fields)] },
        ];
      }
      case Kind.INTERFACE_TYPE_DEFINITION:
      case Kind.INPUT_OBJECT_TYPE_DEFINITION:
      case Kind.ENUM_TYPE_DEFINITION:
      case Kind.SCALAR_TYPE_DEFINITION:
        return [type];
      default:
        return [];
    }
  });
}

export function nameIn(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : nameIn(type.type);
}

export const isBuiltIn = (name: string) => BUILT_IN.includes(name);

type Directed = Pick<FieldDefinitionNode | InputValueDefinitionNode | DescribedType, 'directives'>;

export function directiveOf({ directives = [] }: Directed, name: string): ConstDirectiveNode | undefined {
  return directives.find((one) => one.name.value === name);
}

/** The value of a directive's argument, if it is a text. */
export function textArgument(directive: ConstDirectiveNode | undefined, name: string): string | null {
  const value = directive?.arguments?.find((one) => one.name.value === name)?.value;
  return value?.kind === Kind.STRING ? value.value : null;
}
