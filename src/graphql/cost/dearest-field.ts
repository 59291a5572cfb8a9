import { type GraphQLField, getNamedType } from 'graphql';
import { ASSUMED_SERIES_ROWS } from '../../observations/planner/learned.ts';
import { countries, indicators, observations } from '../../service/endpoints.ts';
import type { FieldPlan, Plan } from '../execution/plan.ts';
import { type Arguments, argumentsOf, costOf, type FieldCost, type Variables } from '../schema/selection.ts';

interface WeighedField {
  readonly weight: number;
  readonly path: readonly string[];
}

/** Documented sizes, for lists whose length the text doesn't show. */
const USUAL_ITEMS: Readonly<Record<string, number>> = { Country: 54, Indicator: 207 };

/** Of other lists whose length the text doesn't show. */
const SOME_ITEMS = 20;

const NOTHING: WeighedField = { weight: 0, path: [] };

/**
 * Names the field that probably takes the most calls to a route, by text and arguments alone. Only for a message.
 * @returns response names down to it, such as `countries.observations`; null if no field takes calls
 */
export function dearestField({ root }: Plan, variables: Variables, route: string): string | null {
  const isToRoute = mayCall(route);
  const dearestOf = (fields: readonly FieldPlan[], parents: number): WeighedField =>
    fields
      .map((field) => {
        const { key, definition } = field;
        const args = argumentsOf(field, variables) ?? {};
        const { itemType } = definition.extensions;
        const fieldCalls = isToRoute(costOf(definition)) ? parents * ownWeight(definition, args) : 0;
        const { name } = itemType ?? getNamedType(definition.type);
        const all = USUAL_ITEMS[name] ?? Number.POSITIVE_INFINITY;
        const items = itemType === undefined ? parents : Math.min(parents, all) * itemsOf(name, args);
        const below = dearestOf(field.below, Math.min(items, all));
        const { weight, path } = fieldCalls >= below.weight ? { weight: fieldCalls, path: [] } : below;
        return weight === 0 ? NOTHING : { weight, path: [key, ...path] };
      })
      .reduce((a, b) => (b.weight > a.weight ? b : a), NOTHING);
  const { path } = dearestOf(root.selected, 1);
  return path.length === 0 ? null : path.join('.');
}

/** Returns a test for fields that may make calls to a route. */
function mayCall(route: string): (cost: FieldCost) => boolean {
  if (route === observations.route) return (cost) => cost === 'FIGURES' || cost === 'UNSAID';
  if (route === countries.route || route === indicators.route) return (cost) => cost === 'ONCE';
  return (cost) => cost !== 'NOTHING' && cost !== 'FIGURES';
}

/** The weight for each object that has the field: rows of figures, or 1 for any other call. */
function ownWeight(field: GraphQLField<unknown, unknown>, args: Arguments): number {
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
  const isSeries = field.extensions.itemType !== undefined && (args.latest !== true || args.toYear != null);
  return codes * keys * (isSeries ? ASSUMED_SERIES_ROWS : 1);
}

function itemsOf(typeName: string, args: Arguments): number {
  for (const [name, value] of Object.entries(args)) {
    if (name !== 'orderBy' && Array.isArray(value)) return value.length;
  }
  return USUAL_ITEMS[typeName] ?? SOME_ITEMS;
}
