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
import type { UpstreamTake } from './generated.ts';

/**
 * Calls that a field may make, for any selection below it, as `@upstream` of the SDL says (`schema/upstream.graphql`).
 * `UNSAID`: it has a resolver of its own and no such line, so that it may ask for anything. `REFERENCED`: each
 * reference is found as a lookup of its type finds it, or by its identifier.
 */
export type FieldCost = UpstreamTake | 'REFERENCED' | 'UNSAID';

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** Calls that the field may make. */
    cost?: FieldCost;
  }
  interface GraphQLObjectTypeExtensions {
    /** The type of the rows, if this is a connection. */
    rowType?: GraphQLObjectType;
    /** True if a reference to one is found by the object of its global identifier, since no lookup of `Query` is by key. */
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
 * Parts an SDL from the costs that its fields state: `said` has them by `Type.field`.
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

/** The cost of a field. A field without a known cost may ask for anything. */
export function costOf(field: GraphQLField<unknown, unknown> | undefined): FieldCost {
  return field?.extensions.cost ?? 'UNSAID';
}

/** True if a field can turn into demands for figures by itself. */
export function asksForFigures(field: GraphQLField<unknown, unknown>): boolean {
  const cost = costOf(field);
  return cost === 'FIGURES' || cost === 'UNSAID';
}

/** The part of `GraphQLResolveInfo` that a look at a selection needs. */
export interface SelectionScope {
  readonly schema: GraphQLSchema;
  readonly fragments: GraphQLResolveInfo['fragments'];
  readonly variableValues: GraphQLResolveInfo['variableValues'];
}

/** A {@link SelectionScope} at a field. */
interface FieldScope extends SelectionScope {
  readonly fieldNodes: readonly FieldNode[];
}

/** A field that brings rows, as a list or as a connection. */
export interface RowsField extends FieldScope {
  readonly returnType: GraphQLOutputType;
}

/**
 * Caches a finding about the selection of a field on the list of the field's nodes. It stands in the plan, which hands the
 * same one to each item of a list and to each run; `@skip` and `@include` are followed by then.
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

/** Names of the fields selected directly on a result of the type, fragments included, and skipped fields left out. */
export function selectedFields(info: FieldScope, typeName: string): ReadonlySet<string> {
  const byType = namesByType(info);
  let names = byType.get(typeName);
  if (names === undefined) {
    names = fieldsIn(info, typeName);
    byType.set(typeName, names);
  }
  return names;
}

function fieldsIn(info: FieldScope, typeName: string): ReadonlySet<string> {
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

/** The type of the rows of a connection; null for any other type. */
export function rowTypeOf(type: GraphQLNamedType): GraphQLObjectType | null {
  return (isObjectType(type) && type.extensions.rowType) || null;
}

/** The scope of the selection on a field's rows: below `nodes` and `edges` if it is a connection. */
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

/** The fields that are selected directly below a field's nodes, on objects of a type: a list of nodes for each. */
export function fieldsBelow(
  { schema, fragments, variableValues, fieldNodes }: FieldScope,
  type: GraphQLObjectType,
): (readonly FieldNode[])[] {
  return [...collectSubfields(schema, fragments, variableValues, type, fieldNodes).values()];
}

/**
 * True if a selection on a type can lead to demands for figures, as its text alone shows.
 * @param passed fragments that were looked into, and lead to none: those that spread each other make more paths than can be
 * walked
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

/** The type that a fragment on a type selects on. */
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

/** True if `@skip` or `@include` leaves a selection out. Of a condition that is null, execution reports the error. */
export function isLeftOut(selection: SelectionNode, { variableValues }: SelectionScope): boolean {
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

/** True if the selection below a field leads to figures. */
export const gatesBatch = perSelection((info: RowsField): boolean =>
  info.fieldNodes.some((node) => leadsToFigures(getNamedType(info.returnType), node.selectionSet, info)),
);

/** True if no other field of the operation leads to figures: its calls for them are all this field's. */
export const areOnlyFigures = perSelection((info: GraphQLResolveInfo): boolean => {
  const type = info.schema.getRootType(info.operation.operation);
  // The operation stands in for a field: of that, its selection set alone is looked at.
  const fieldNodes = [info.operation as unknown as FieldNode];
  const fields = type == null ? [] : fieldsBelow({ ...scopeOf(info), fieldNodes }, type);
  const leads = (node: FieldNode) => type != null && fieldLeads(type, node, info, new Set());
  return fields.filter((nodes) => nodes.some(leads)).length === 1;
});
