import { type GraphQLField, type GraphQLNamedType, type GraphQLSchema, isObjectType } from 'graphql';
import type { FieldPlan, Plan } from '../execution/plan.ts';
import { type Arguments, argumentsOf, type Variables } from '../schema/selection.ts';

/** Covers the calls for all lists that an operation can need, and for their completion. */
const MOST_LIST_CALLS = 8;

/** Sizes assumed until the service has sent longer lists. */
export const DOCUMENTED: ListSizes = { countries: 60, metrics: 250 };

/** Numbers of countries and indicators that the service lists. */
interface ListSizes {
  readonly countries: number;
  readonly metrics: number;
}

/** An upper bound by the text and the variables. */
interface Bound {
  /** Calls for anything but latest figures; infinite if the service's answers decide. */
  readonly calls: number;
  /** Cells of tables, of countries by metrics, that contain the requested latest figures. */
  readonly latestFigures: number;
}

function mostCalls({ calls, latestFigures }: Bound, maxRows: number): number {
  // Cut into rectangles, a table takes fewer than twice the calls that its cells would fill, and one more.
  return calls + (latestFigures === 0 ? 0 : Math.ceil((2 * latestFigures) / maxRows) + 1);
}

/**
 * The most calls that an operation can take, by the number of rows that a call can bring. Most operations are allowed
 * as many, and needn't be priced.
 * @param listed sizes of lists that have come; the documented ones are used where these are smaller
 */
export function boundOf(
  { root, schema }: Plan,
  variables: Variables,
  listed: ListSizes = DOCUMENTED,
): (maxRows: number) => number {
  const sizes = {
    countries: Math.max(DOCUMENTED.countries, listed.countries),
    metrics: Math.max(DOCUMENTED.metrics, listed.metrics),
  };
  /** @param parents number of objects that have the fields; null for those of the root */
  const boundOfAll = (fields: readonly FieldPlan[], parents: number | null): Bound =>
    fields
      .map((field) => {
        const args = field.args ?? argumentsOf(field, variables) ?? {};
        const { itemType } = field.definition.extensions;
        const items = itemType === undefined ? (parents ?? 1) : mostOf(itemType, args, sizes);
        return both(ownBound(field, args, parents, schema, sizes), boundOfAll(field.below, items));
      })
      .reduce(both, NO_CALLS);
  const bound = both({ ...NO_CALLS, calls: MOST_LIST_CALLS }, boundOfAll(root.selected, null));
  return (maxRows) => mostCalls(bound, maxRows);
}

const NO_CALLS: Bound = { calls: 0, latestFigures: 0 };
const UNBOUNDED: Bound = { ...NO_CALLS, calls: Number.POSITIVE_INFINITY };

function both(a: Bound, b: Bound): Bound {
  return { calls: a.calls + b.calls, latestFigures: a.latestFigures + b.latestFigures };
}

/**
 * The bound of a field without those below it.
 * @param parents number of objects that have the field; null for a field of the root
 */
function ownBound(
  { definition, parentType, name, nodes }: FieldPlan,
  args: Arguments,
  parents: number | null,
  schema: GraphQLSchema,
  sizes: ListSizes,
): Bound {
  const { cost = 'UNSAID', itemType } = definition.extensions;
  const isList = itemType !== undefined;
  switch (cost) {
    case 'NOTHING':
      return NO_CALLS;
    case 'ONCE':
      // `MOST_LIST_CALLS` covers whole lists. With arguments, a list may be a call of its own.
      return parents === null && isList && (nodes[0]?.arguments?.length ?? 0) > 0
        ? { ...NO_CALLS, calls: 1 }
        : NO_CALLS;
    case 'EACH':
      return (parents ?? 1) === 1 ? { ...NO_CALLS, calls: 1 } : UNBOUNDED;
    case 'IDENTIFIED':
      return (parents ?? 1) === 1 && !isList ? { ...NO_CALLS, calls: 1 } : UNBOUNDED;
    case 'REFERENCED':
      return areByKeys(args, schema) ? NO_CALLS : UNBOUNDED;
    case 'FIGURES':
      if (parentType.name === 'Observation') return derivedBound(name, args, parents, sizes);
      return figuresBound(definition, args, parents, sizes);
    case 'UNSAID':
      return UNBOUNDED;
  }
}

/** True if all references are by key, and so resolved from lists; one by global identifier may take any call. */
export function areByKeys({ representations = [] }: Arguments, schema: GraphQLSchema): boolean {
  return [representations].flat().every((reference) => {
    const name = (reference as { readonly __typename?: unknown } | null)?.__typename;
    if (typeof name !== 'string') return true;
    const type = schema.getType(name);
    return name !== 'Node' && !(isObjectType(type) && type.extensions.isFoundById);
  });
}

/** A country or an indicator that no argument names is the object that has the field. */
function figuresBound(
  { args: taken, extensions }: GraphQLField<unknown, unknown>,
  args: Arguments,
  parents: number | null,
  sizes: ListSizes,
): Bound {
  const has = (name: string) => taken.some((argument) => argument.name === name);
  const named = (one: string, many: string, all: number) =>
    has(one) ? 1 : has(many) ? lengthOf(args[many], all) : null;
  const codes = named('countryCode', 'countryCodes', sizes.countries);
  const keys = named('metricKey', 'metricKeys', sizes.metrics);
  if (codes === null && keys === null) return UNBOUNDED;
  const countries = codes ?? parents ?? Number.POSITIVE_INFINITY;
  const metrics = keys ?? parents ?? Number.POSITIVE_INFINITY;
  // Other fields may share the table, so each name counts for a whole line of it.
  const areLatest = args.latest === true && args.toYear == null && args.scope !== 'PLACES';
  if (extensions.itemType === undefined || areLatest)
    return { ...NO_CALLS, latestFigures: tableOf(countries, metrics, sizes) };
  // At most a call for each series, and one to find out that the service doesn't support years.
  const hasYears = args.fromYear != null || args.toYear != null;
  return { ...NO_CALLS, calls: countries * metrics + Number(hasYears) };
}

/** The most items of a list: as many countries or indicators may have figures below it. */
function mostOf(itemType: GraphQLNamedType, args: Arguments, sizes: ListSizes): number {
  const all = itemType.name === 'Country' ? sizes.countries : sizes.metrics;
  const lengths = Object.values(args).map((value) => (Array.isArray(value) ? value.length : 0));
  return Math.max(all, ...lengths);
}

/** Cells of a table in which each name of the shorter list counts for a whole line. */
function tableOf(countries: number, metrics: number, sizes: ListSizes): number {
  const [lines, length] = countries < metrics ? [countries, metrics] : [metrics, countries];
  return lines * Math.max(sizes.metrics, Number.isFinite(length) ? length : 0);
}

/** A series of each country in the comparison, and its latest figure. */
function derivedBound(name: string, { among }: Arguments, parents: number | null, sizes: ListSizes): Bound {
  if (parents !== 1) return UNBOUNDED;
  const countries = name === 'rank' ? lengthOf(among, sizes.countries) : 1;
  // One more to find out that the service doesn't support years.
  return { calls: countries + 1, latestFigures: tableOf(countries, 1, sizes) };
}

/** An omitted list means all names. */
function lengthOf(list: unknown, all: number): number {
  return Array.isArray(list) ? list.length : all;
}
