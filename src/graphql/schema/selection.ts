import {
  type DirectiveNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type FieldNode,
  type FragmentSpreadNode,
  type GraphQLCompositeType,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  type InlineFragmentNode,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type NamedTypeNode,
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields.js';
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

export interface SelectionScope {
  readonly schema: GraphQLSchema;
  readonly fragments: GraphQLResolveInfo['fragments'];
  readonly variableValues: GraphQLResolveInfo['variableValues'];
}

interface FieldScope extends SelectionScope {
  readonly fieldNodes: readonly FieldNode[];
}

export type Variables = Readonly<Record<string, unknown>>;
export type Arguments = Readonly<Record<string, unknown>>;

/** Empty if the arguments are invalid, which the run reports before any call. */
export function argumentsOf({ args, definition, nodes }: FieldPlan, variables: Variables): Arguments {
  try {
    return args ?? getArgumentValues(definition, nodes[0] as FieldNode, variables);
  } catch {
    return {};
  }
}

/** True if any of the fields, or of those below them, asks for figures. */
export function leadToFigures(fields: readonly FieldPlan[]): boolean {
  return fields.some(({ definition, below }) => asksForFigures(definition) || leadToFigures(below));
}

/** A list or a connection. */
export interface RowsField extends FieldScope {
  readonly returnType: GraphQLOutputType;
}

/**
 * Caches a finding on a field's list of nodes, which the plan reuses for each item and run of equal `@skip` and
 * `@include`.
 */
export function perSelection<Scope extends FieldScope, Found>(
  find: (field: Scope) => Found,
): (field: Scope) => Found {
  const finding = Symbol('finding');
  return (field) => {
    const nodes: Scope['fieldNodes'] & { [finding]?: Found } = field.fieldNodes;
    nodes[finding] ??= find(field);
    return nodes[finding];
  };
}

const namesByType = perSelection(() => new Map<string, ReadonlySet<string>>());

/** With fragments, without skipped fields. */
export function selectedFields(info: FieldScope, typeName: string): ReadonlySet<string> {
  const byType = namesByType(info);
  let names = byType.get(typeName);
  if (names === undefined) {
    names = namesIn(info, typeName);
    byType.set(typeName, names);
  }
  return names;
}

function namesIn(info: FieldScope, typeName: string): ReadonlySet<string> {
  const names = new Set<string>();
  const seen = new Set<SelectionSetNode>();
  const visit = (set: SelectionSetNode | undefined): void => {
    if (set === undefined || seen.has(set)) return;
    seen.add(set);
    for (const selection of set.selections) {
      if (isLeftOut(selection, info)) continue;
      if (selection.kind === Kind.FIELD) names.add(selection.name.value);
      else if (!isForAnother(conditionOf(selection, info)?.name.value))
        visit(selectionSetOf(selection, info));
    }
  };
  const isForAnother = (condition: string | undefined) =>
    condition !== undefined && condition !== typeName && isObjectType(info.schema.getType(condition));
  for (const node of info.fieldNodes) visit(node.selectionSet);
  return names;
}

/** Null for any type but a connection. */
export function rowTypeOf(type: GraphQLNamedType): GraphQLObjectType | null {
  return (isObjectType(type) && type.extensions.rowType) || null;
}

/** Below `nodes` and `edges` of a connection. */
export function scopeOfRows(info: RowsField): FieldScope {
  const fieldNodes = rowNodes(info);
  return fieldNodes === info.fieldNodes ? info : { ...scopeOf(info), fieldNodes };
}

const rowNodes = perSelection((info: RowsField): FieldScope['fieldNodes'] => {
  const type = getNamedType(info.returnType);
  if (rowTypeOf(type) === null || !isObjectType(type)) return info.fieldNodes;
  const edges = type.getFields().edges;
  const edgeType = edges === undefined ? undefined : getNamedType(edges.type);
  const below = fieldsBelow(info, type).flat();
  const named = (nodes: readonly FieldNode[], name: string) =>
    nodes.filter((node) => node.name.value === name);
  const ofEdges = isObjectType(edgeType)
    ? fieldsBelow({ ...scopeOf(info), fieldNodes: named(below, 'edges') }, edgeType).flat()
    : [];
  return [...named(below, 'nodes'), ...named(ofEdges, 'node')];
});

const scopeOf = ({ schema, fragments, variableValues }: SelectionScope): SelectionScope => ({
  schema,
  fragments,
  variableValues,
});

/** A list of nodes for each field. */
export function fieldsBelow(
  { schema, fragments, variableValues, fieldNodes }: FieldScope,
  type: GraphQLObjectType,
): (readonly FieldNode[])[] {
  return [...collectSubfields(schema, fragments, variableValues, type, fieldNodes).values()];
}

/**
 * By the text alone.
 * @param passed fragments already found not to lead to figures: those that spread each other make too many paths to
 * walk
 */
export function leadsToFigures(
  type: GraphQLNamedType,
  selectionSet: SelectionSetNode | undefined,
  scope: SelectionScope,
  passed = new Set<string>(),
): boolean {
  if (selectionSet === undefined || !isCompositeType(type)) return false;
  return selectionSet.selections.some((selection) => {
    if (isLeftOut(selection, scope)) return false;
    if (selection.kind === Kind.FIELD) return fieldLeads(type, selection, scope, passed);
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      if (passed.has(selection.name.value)) return false;
      passed.add(selection.name.value);
    }
    return leadsToFigures(typeOf(selection, type, scope), selectionSetOf(selection, scope), scope, passed);
  });
}

function typeOf(
  fragment: FragmentSpreadNode | InlineFragmentNode,
  type: GraphQLCompositeType,
  scope: SelectionScope,
): GraphQLNamedType {
  const condition = conditionOf(fragment, scope);
  return condition === undefined ? type : (scope.schema.getType(condition.name.value) ?? type);
}

function fieldLeads(
  type: GraphQLCompositeType,
  node: FieldNode,
  scope: SelectionScope,
  passed: Set<string>,
): boolean {
  const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[node.name.value] : undefined;
  if (field === undefined) return false;
  return asksForFigures(field) || leadsToFigures(getNamedType(field.type), node.selectionSet, scope, passed);
}

function conditionOf(
  selection: FragmentSpreadNode | InlineFragmentNode,
  { fragments }: SelectionScope,
): NamedTypeNode | undefined {
  return selection.kind === Kind.FRAGMENT_SPREAD
    ? fragments[selection.name.value]?.typeCondition
    : selection.typeCondition;
}

function selectionSetOf(
  selection: SelectionNode,
  { fragments }: SelectionScope,
): SelectionSetNode | undefined {
  return selection.kind === Kind.FRAGMENT_SPREAD
    ? fragments[selection.name.value]?.selectionSet
    : selection.selectionSet;
}

/** Null conditions are left for execution to report. */
function isLeftOut(selection: SelectionNode, { variableValues }: SelectionScope): boolean {
  if (!selection.directives?.length) return false;
  try {
    return (
      getDirectiveValues(GraphQLSkipDirective, selection, variableValues)?.if === true ||
      getDirectiveValues(GraphQLIncludeDirective, selection, variableValues)?.if === false
    );
  } catch {
    return false;
  }
}

export const gatesBatch = perSelection((info: RowsField): boolean =>
  info.fieldNodes.some((node) => leadsToFigures(getNamedType(info.returnType), node.selectionSet, info)),
);
