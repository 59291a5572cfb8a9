import { type GraphQLField, type GraphQLSchema, getNamedType, type OperationDefinitionNode } from 'graphql';
import { countries, indicators, observations } from '../../service/endpoints.ts';
import { costOf, type FieldCost, isLeftOut, rowTypeOf, type SelectionScope } from '../schema/selection.ts';
import { argumentsOf, createSelectionSum, holdsList } from './bound.ts';

interface WeighedField {
  readonly weight: number;
  readonly path: readonly string[];
}

/** Documented sizes, for lists whose length the text doesn't show. */
const USUAL_ITEMS: Readonly<Record<string, number>> = { Country: 54, Indicator: 207 };

/** Of other lists whose length the text doesn't show. */
const SOME_ITEMS = 20;

/** One row a year since 1950. */
const SERIES_ROWS = 77;

const NOTHING: WeighedField = { weight: 0, path: [] };

/**
 * Names the field that probably takes the most calls to a route, by text and arguments alone. Only for a message.
 * @returns response names down to it, such as `countries.observations`; null if no field takes calls
 */
export function dearestField(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  scope: SelectionScope,
  route: string,
): string | null {
  const isToRoute = mayCall(route);
  const dearestOf = createSelectionSum<WeighedField>(schema, scope, {
    nothing: NOTHING,
    both: (a, b) => (b.weight > a.weight ? b : a),
    isLeftOut: (selection) => isLeftOut(selection, scope),
    ofField(field, node, parentType, parents, dearestBelow) {
      const args = argumentsOf(field, node, scope);
      const isList = holdsList(field);
      const type = getNamedType(field.type);
      const { name } = rowTypeOf(type) ?? type;
      const fieldCalls = isToRoute(costOf(field)) ? parents * ownWeight(field, args, isList) : 0;
      // The rows of a page have been counted at its connection.
      const items =
        isList && rowTypeOf(parentType) === null
          ? Math.min(parents, USUAL_ITEMS[name] ?? parents) * itemsOf(name, args)
          : parents;
      const below =
        node.selectionSet === undefined
          ? NOTHING
          : dearestBelow(type, node.selectionSet, Math.min(items, USUAL_ITEMS[name] ?? items));
      const { weight, path } = fieldCalls >= below.weight ? { weight: fieldCalls, path: [] } : below;
      return weight === 0 ? NOTHING : { weight, path: [node.alias?.value ?? node.name.value, ...path] };
    },
  });
  const { path } = dearestOf(schema.getRootType(operation.operation), operation.selectionSet, 1);
  return path.length === 0 ? null : path.join('.');
}

/** Returns a test for fields that may make calls to a route. */
function mayCall(route: string): (cost: FieldCost) => boolean {
  if (route === observations.route) return (cost) => cost === 'FIGURES' || cost === 'UNSAID';
  if (route === countries.route || route === indicators.route) return (cost) => cost === 'ONCE';
  return (cost) => cost !== 'NOTHING' && cost !== 'FIGURES';
}

/** The weight for each object that has the field: rows of figures, or 1 for any other call. */
function ownWeight(
  field: GraphQLField<unknown, unknown>,
  args: Readonly<Record<string, unknown>>,
  isList: boolean,
): number {
  const cost = costOf(field);
  // Lists are loaded once for all objects, so they weigh least.
  if (cost === 'ONCE') return Number.MIN_VALUE;
  if (cost !== 'FIGURES') return 1;
  const named = (one: string, many: string, all: number) => {
    if (!field.args.some(({ name }) => name === many)) return 1;
    return one in args ? 1 : Array.isArray(args[many]) ? args[many].length : all;
  };
  const codes = named('countryCode', 'countryCodes', USUAL_ITEMS.Country ?? 1);
  const keys = named('metricKey', 'metricKeys', USUAL_ITEMS.Indicator ?? 1);
  const isSeries = isList && (args.latest !== true || args.toYear != null);
  return codes * keys * (isSeries ? SERIES_ROWS : 1);
}

function itemsOf(typeName: string, args: Readonly<Record<string, unknown>>): number {
  for (const [name, value] of Object.entries(args)) {
    if (name !== 'orderBy' && Array.isArray(value)) return value.length;
  }
  return USUAL_ITEMS[typeName] ?? SOME_ITEMS;
}
