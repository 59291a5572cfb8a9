import {
  type DirectiveNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getArgumentValues,
  getNamedType,
  isObjectType,
  Kind,
  visit,
} from 'graphql';
import type { FieldPlan } from '../execution/plan.ts';
import type { UpstreamTake } from './generated.ts';

/**
 * Calls that a field may make, whatever its selection (`@upstream`, `schema/upstream.graphql`). `UNSAID`: has a
 * resolver and no `@upstream`, so it may ask for anything. `REFERENCED`: each reference is found by a lookup of its
 * type, or by its identifier.
 */
export type FieldCost = UpstreamTake | 'REFERENCED' | 'UNSAID';

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    cost?: FieldCost;
    /** Of a list, or of a connection, whose pages hold no more. Undefined for the lists of a page. */
    itemType?: GraphQLNamedType | undefined;
  }
  interface GraphQLObjectTypeExtensions {
    /** Of a connection. */
    rowType?: GraphQLObjectType;
    /** True if references are found by global identifier, since no lookup of `Query` is by key. */
    isFoundById?: boolean;
  }
}

const DIRECTIVE = 'upstream';
const ENUM = 'UpstreamTake';

const TAKES: ReadonlySet<string> = new Set([
  'NOTHING',
  'ONCE',
  'EACH',
  'FIGURES',
  'IDENTIFIED',
] satisfies UpstreamTake[]);

const isTake = (name: string): name is UpstreamTake => TAKES.has(name);

/**
 * Splits off the costs that fields state, by `Type.field`.
 * @throws TypeError if a field states no known cost
 */
export function takeCosts(sdl: DocumentNode) {
  const said = new Map<string, FieldCost>();
  let typeName = '';
  const enter = ({ name }: { readonly name: { readonly value: string } }) => {
    typeName = name.value;
  };
  const typeDefs = visit(sdl, {
    ObjectTypeDefinition: enter,
    ObjectTypeExtension: enter,
    FieldDefinition(field): FieldDefinitionNode | undefined {
      const line = field.directives?.find(({ name }) => name.value === DIRECTIVE);
      if (line === undefined) return undefined;
      const coordinate = `${typeName}.${field.name.value}`;
      said.set(coordinate, takeIn(line, coordinate));
      return { ...field, directives: field.directives?.filter((other) => other !== line) ?? [] };
    },
    DirectiveDefinition: ({ name }) => (name.value === DIRECTIVE ? null : undefined),
    EnumTypeDefinition: ({ name }) => (name.value === ENUM ? null : undefined),
  });
  return { typeDefs, said };
}

function takeIn({ arguments: given = [] }: DirectiveNode, coordinate: string): UpstreamTake {
  const value = given.find(({ name }) => name.value === 'takes')?.value;
  if (value?.kind === Kind.ENUM && isTake(value.value)) return value.value;
  throw new TypeError(`${coordinate} says what is no cost: @${DIRECTIVE}(takes:) is one of ${[...TAKES]}.`);
}

export function costOf(field: GraphQLField<unknown, unknown> | undefined): FieldCost {
  return field?.extensions.cost ?? 'UNSAID';
}

export function asksForFigures(field: GraphQLField<unknown, unknown>): boolean {
  const cost = costOf(field);
  return cost === 'FIGURES' || cost === 'UNSAID';
}

export type Variables = Readonly<Record<string, unknown>>;
export type Arguments = Readonly<Record<string, unknown>>;

/** Null if the arguments are invalid, which the run reports before any call. */
export function argumentsOf({ args, definition, nodes }: FieldPlan, variables: Variables): Arguments | null {
  try {
    return args ?? getArgumentValues(definition, nodes[0] as FieldNode, variables);
  } catch {
    return null;
  }
}

/** True if any of the fields, or of those below them, asks for figures. */
export function leadToFigures(fields: readonly FieldPlan[]): boolean {
  return fields.some(({ definition, below }) => asksForFigures(definition) || leadToFigures(below));
}

/** A field as the `info` of its resolver tells it. */
export interface SelectedField {
  readonly field: FieldPlan;
  readonly variableValues: Variables;
}

/** Caches a finding on the list of nodes of a field, which all runs of a plan share. */
export function perField<Found>(find: (field: FieldPlan) => Found): (field: FieldPlan) => Found {
  const finding = Symbol('finding');
  return (field) => {
    const nodes: FieldPlan['nodes'] & { [finding]?: Found } = field.nodes;
    nodes[finding] ??= find(field);
    return nodes[finding];
  };
}

export const gatesBatch = perField(({ below }) => leadToFigures(below));

/** Null for any type but a connection. */
export function rowTypeOf(type: GraphQLNamedType): GraphQLObjectType | null {
  return (isObjectType(type) && type.extensions.rowType) || null;
}

/** The fields of a field's objects, or of the rows of a connection: those below `nodes` and `edges`. */
export function fieldsOfRows({ definition, below }: FieldPlan): readonly FieldPlan[] {
  if (rowTypeOf(getNamedType(definition.type)) === null) return below;
  const named = (fields: readonly FieldPlan[], name: string) =>
    fields.filter((field) => field.name === name).flatMap((field) => field.below);
  return [...named(below, 'nodes'), ...named(named(below, 'edges'), 'node')];
}
