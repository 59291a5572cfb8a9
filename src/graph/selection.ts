import {
  type FieldNode,
  type FragmentSpreadNode,
  type GraphQLCompositeType,
  GraphQLIncludeDirective,
  type GraphQLNamedType,
  type GraphQLObjectType,
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
} from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields.js';
import { asksForFigures } from './field-costs.ts';

/** The part of `GraphQLResolveInfo` that a look at a selection needs. */
export type SelectionScope = Pick<GraphQLResolveInfo, 'schema' | 'fragments' | 'variableValues'>;

/** A {@link SelectionScope} at a field. */
export type FieldScope = SelectionScope & Pick<GraphQLResolveInfo, 'fieldNodes'>;

/** Findings about selections, by their place and by the variables that decide which fields are skipped. */
type Findings<Found> = WeakMap<object, WeakMap<object, Map<string, Found>>>;

function findingsOf<Found>(all: Findings<Found>, place: object, variables: object): Map<string, Found> {
  let byVariables = all.get(place);
  if (byVariables === undefined) {
    byVariables = new WeakMap();
    all.set(place, byVariables);
  }
  let found = byVariables.get(variables);
  if (found === undefined) {
    found = new Map();
    byVariables.set(variables, found);
  }
  return found;
}

/** Findings by the nodes of a field, which execution hands to each item of a list; then by type. */
const selected: Findings<ReadonlySet<string>> = new WeakMap();

/**
 * Names of the fields selected directly on a field's result, if that is an object of the type. Fragments that apply to
 * it are looked into, each of them once; skipped fields are left out.
 */
export function selectedFields(info: FieldScope, typeName: string): ReadonlySet<string> {
  const byType = findingsOf(selected, info.fieldNodes, info.variableValues);
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
  if (!isObjectType(type) || !type.name.endsWith('Connection')) return null;
  const rows = type.getFields().nodes;
  const rowType = rows === undefined ? undefined : getNamedType(rows.type);
  return isObjectType(rowType) ? rowType : null;
}

/** Scopes by the nodes of the field of a connection, as above. */
const rowScopes: WeakMap<object, WeakMap<object, FieldScope>> = new WeakMap();

/**
 * The scope of the selection on the rows of a field: directly below it for a list, and below `nodes` and `edges` for a
 * connection.
 */
export function scopeOfRows(info: FieldScope & Pick<GraphQLResolveInfo, 'returnType'>): FieldScope {
  const type = getNamedType(info.returnType);
  if (rowTypeOf(type) === null || !isObjectType(type)) return info;
  let byVariables = rowScopes.get(info.fieldNodes);
  if (byVariables === undefined) {
    byVariables = new WeakMap();
    rowScopes.set(info.fieldNodes, byVariables);
  }
  let scope = byVariables.get(info.variableValues);
  if (scope === undefined) {
    const { schema, fragments, variableValues } = info;
    scope = { schema, fragments, variableValues, fieldNodes: rowNodesIn(info, type) };
    byVariables.set(variableValues, scope);
  }
  return scope;
}

function rowNodesIn(info: FieldScope, type: GraphQLObjectType): readonly FieldNode[] {
  const edges = type.getFields().edges;
  const edgeType = edges === undefined ? undefined : getNamedType(edges.type);
  const below = nodesBelow(info, type);
  const named = (nodes: readonly FieldNode[], name: string) =>
    nodes.filter((node) => node.name.value === name);
  const ofEdges = isObjectType(edgeType)
    ? nodesBelow({ ...scopeOf(info), fieldNodes: named(below, 'edges') }, edgeType)
    : [];
  return [...named(below, 'nodes'), ...named(ofEdges, 'node')];
}

const scopeOf = ({ schema, fragments, variableValues }: SelectionScope): SelectionScope => ({
  schema,
  fragments,
  variableValues,
});

/** The fields that are selected directly below a field's nodes, on objects of a type. */
export function nodesBelow(info: FieldScope, type: GraphQLObjectType): readonly FieldNode[] {
  const { schema, fragments, variableValues, fieldNodes } = info;
  return [...collectSubfields(schema, fragments, variableValues, type, fieldNodes).values()].flat();
}

/** Findings by the fragments of a document; then by the name of one of them. */
const leading: Findings<boolean> = new WeakMap();

/** True if a selection on a type can lead to demands for figures, as its text alone shows. */
export function leadsToFigures(
  type: GraphQLNamedType,
  selectionSet: SelectionSetNode | undefined,
  scope: SelectionScope,
): boolean {
  if (selectionSet === undefined || !isCompositeType(type)) return false;
  return selectionSet.selections.some((selection) => {
    if (isLeftOut(selection, scope)) return false;
    if (selection.kind === Kind.FIELD) return fieldLeads(type, selection, scope);
    if (selection.kind === Kind.FRAGMENT_SPREAD) return fragmentLeads(type, selection, scope);
    return leadsToFigures(typeOf(selection, type, scope), selection.selectionSet, scope);
  });
}

/**
 * Tells the same of a fragment. Fragments that spread each other make more paths than can be walked, so each is looked
 * into once.
 */
function fragmentLeads(
  type: GraphQLCompositeType,
  spread: FragmentSpreadNode,
  scope: SelectionScope,
): boolean {
  const byName = findingsOf(leading, scope.fragments, scope.variableValues);
  const name = spread.name.value;
  let leads = byName.get(name);
  if (leads === undefined) {
    leads = leadsToFigures(typeOf(spread, type, scope), selectionSetOf(spread, scope), scope);
    byName.set(name, leads);
  }
  return leads;
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

function fieldLeads(type: GraphQLCompositeType, node: FieldNode, scope: SelectionScope): boolean {
  const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[node.name.value] : undefined;
  if (field === undefined) return false;
  return asksForFigures(field) || leadsToFigures(getNamedType(field.type), node.selectionSet, scope);
}

function conditionOf(
  selection: FragmentSpreadNode | InlineFragmentNode,
  { fragments }: Pick<SelectionScope, 'fragments'>,
): NamedTypeNode | undefined {
  return selection.kind === Kind.FRAGMENT_SPREAD
    ? fragments[selection.name.value]?.typeCondition
    : selection.typeCondition;
}

function selectionSetOf(
  selection: SelectionNode,
  { fragments }: Pick<SelectionScope, 'fragments'>,
): SelectionSetNode | undefined {
  return selection.kind === Kind.FRAGMENT_SPREAD
    ? fragments[selection.name.value]?.selectionSet
    : selection.selectionSet;
}

/**
 * True if `@skip` or `@include` leaves a selection out. A condition that is null doesn't: execution reports the error
 * in it.
 */
export function isLeftOut(
  selection: SelectionNode,
  { variableValues }: Pick<SelectionScope, 'variableValues'>,
): boolean {
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

/** Types below which a field can ask for figures, in some selection: no other type needs a look at its selection. */
export function typesThatLead(schema: GraphQLSchema): ReadonlySet<string> {
  const leading = new Set<string>();
  for (let grew = true; grew; ) {
    grew = false;
    for (const type of Object.values(schema.getTypeMap())) {
      if (leading.has(type.name) || type.name.startsWith('__')) continue;
      const fields = isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];
      const below = fields.map((field) => getNamedType(field.type));
      const members = isCompositeType(type) && !isObjectType(type) ? schema.getPossibleTypes(type) : [];
      if (fields.some(asksForFigures) || [...below, ...members].some(({ name }) => leading.has(name))) {
        leading.add(type.name);
        grew = true;
      }
    }
  }
  return leading;
}
