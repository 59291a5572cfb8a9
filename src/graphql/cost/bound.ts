import {
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  isObjectType,
  isUnionType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { BoundedCache, OVERHEAD_BYTES, roughBytes } from '../../cache/lru.ts';
import type { Tenant } from '../../keys/tenant.ts';
import type { Answer, Call, Endpoint, Send } from '../../service/call.ts';
import * as endpoints from '../../service/endpoints.ts';
import type { FieldCost, SelectionScope } from '../schema/selection.ts';

/** Of all keys together. */
const MAX_LISTS_BYTES = 16 * 1024 * 1024;

/** A list is replaced at most once in this time, since sizes hardly change. */
const RENEWING_MS = 60_000;

/**
 * Notes the lists that the service has given each key, to price later operations by.
 * @param more endpoints besides those that every service has
 */
export function openGivenLists(more: readonly Endpoint[]) {
  const given = new BoundedCache<{ readonly body: unknown; readonly atMs: number }>(
    MAX_LISTS_BYTES,
    ({ body }) => OVERHEAD_BYTES + roughBytes(body),
  );
  const keyOfCall = (tenant: Tenant, { target }: Call) => `${tenant.digest} ${target}`;
  const isOfAll = ({ route, assumed }: Endpoint) =>
    assumed !== undefined && !route.includes('{') && route !== endpoints.observations.route;
  const all: readonly Endpoint[] = [...Object.values(endpoints), ...more];
  /** Routes with one answer for all. */
  const routes: ReadonlySet<string> = new Set(all.filter(isOfAll).map(({ route }) => route));

  function cacheList(listKey: string, { body, receivedAt }: Answer): void {
    const before = given.get(listKey);
    if (before === undefined || receivedAt - before.atMs >= RENEWING_MS)
      given.set(listKey, { body, atMs: receivedAt });
  }

  return {
    /** All endpoints, those of plugins included. */
    endpoints: all,
    routes,
    /** The body of a list; undefined if the key has been given none. */
    of: (tenant: Tenant, call: Call): unknown => given.get(keyOfCall(tenant, call))?.body,
    /** Notes the lists among the answers. */
    notedListsStage:
      (next: Send): Send =>
      (call, sending) => {
        const answering = next(call, sending);
        if (!routes.has(call.route)) return answering;
        return answering.then((answer) => {
          if (answer.status === 200) cacheList(keyOfCall(sending.caller.tenant, call), answer);
          return answer;
        });
      },
  };
}

/** What to add up, and how. */
interface FieldSum<Sum> {
  readonly nothing: Sum;
  readonly both: (a: Sum, b: Sum) => Sum;
  /** True for selections that don't count; omitted if all do. */
  readonly isLeftOut?: (selection: SelectionNode) => boolean;
  /**
   * The sum of a field, its selection included.
   * @param parents number of objects that have the field
   */
  ofField(
    field: GraphQLField<unknown, unknown>,
    node: FieldNode,
    type: GraphQLCompositeType,
    parents: number,
    below: SumOfSet<Sum>,
  ): Sum;
}

/** @param parents number of objects that have the selection */
type SumOfSet<Sum> = (
  type: GraphQLNamedType | null | undefined,
  set: SelectionSetNode,
  parents: number,
) => Sum;

/**
 * Adds up fields over a selection and all that is below. Fragments are walked once for each number of parents, not once
 * for each path to them, of which a small document may have millions.
 */
export function createSelectionSum<Sum>(
  schema: GraphQLSchema,
  { fragments }: SelectionScope,
  { nothing, both, isLeftOut = () => false, ofField }: FieldSum<Sum>,
): SumOfSet<Sum> {
  const ofFragments = new Map<string, Sum>();

  const ofSet: SumOfSet<Sum> = (type, set, parents) => {
    if (!isCompositeType(type)) return nothing;
    let sum = nothing;
    for (const selection of set.selections) {
      if (!isLeftOut(selection)) sum = both(sum, ofSelection(selection, type, parents));
    }
    return sum;
  };

  function ofSelection(selection: SelectionNode, type: GraphQLCompositeType, parents: number): Sum {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return ofFragment(selection.name.value, parents);
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const condition = selection.typeCondition?.name.value;
      const onType = condition === undefined ? type : schema.getType(condition);
      return ofSet(onType, selection.selectionSet, parents);
    }
    const field = isUnionType(type) ? undefined : type.getFields()[selection.name.value];
    return field === undefined ? nothing : ofField(field, selection, type, parents, ofSet);
  }

  function ofFragment(name: string, parents: number): Sum {
    const fragment = fragments[name];
    if (fragment === undefined) return nothing;
    const key = `${name} ${parents}`;
    let sum = ofFragments.get(key);
    if (sum === undefined) {
      sum = ofSet(schema.getType(fragment.typeCondition.name.value), fragment.selectionSet, parents);
      ofFragments.set(key, sum);
    }
    return sum;
  }

  return ofSet;
}

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
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  scope: SelectionScope,
  listed: ListSizes = DOCUMENTED,
): (maxRows: number) => number {
  const sizes = {
    countries: Math.max(DOCUMENTED.countries, listed.countries),
    metrics: Math.max(DOCUMENTED.metrics, listed.metrics),
  };
  const root = schema.getRootType(operation.operation);
  const boundOfSet = createSelectionSum<Bound>(schema, scope, {
    nothing: NO_CALLS,
    both,
    ofField(field, node, type, parents, below) {
      const cost = field.extensions.cost ?? 'UNSAID';
      const isRow = rowTypeOf(type) !== null;
      const isList = holdsList(field);
      const fieldBound = ownBound(
        { field, cost, isList, node, type },
        type === root ? null : parents,
        scope,
        sizes,
      );
      if (node.selectionSet === undefined) return fieldBound;
      // A page has no more rows than its list.
      const isOfList = isList && !isRow;
      const items = isOfList ? mostOf(field, argumentsOf(field, node, scope), sizes) : parents;
      return both(fieldBound, below(getNamedType(field.type), node.selectionSet, items));
    },
  });
  const bound = both({ ...NO_CALLS, calls: MOST_LIST_CALLS }, boundOfSet(root, operation.selectionSet, 1));
  return (maxRows) => mostCalls(bound, maxRows);
}

const NO_CALLS: Bound = { calls: 0, latestFigures: 0 };
const UNBOUNDED: Bound = { ...NO_CALLS, calls: Number.POSITIVE_INFINITY };

function both(a: Bound, b: Bound): Bound {
  return { calls: a.calls + b.calls, latestFigures: a.latestFigures + b.latestFigures };
}

interface BoundField {
  readonly field: GraphQLField<unknown, unknown>;
  readonly cost: FieldCost;
  readonly isList: boolean;
  readonly node: FieldNode;
  readonly type: GraphQLCompositeType;
}

/**
 * The bound of a field without its selection.
 * @param parents number of objects that have the field; null for a field of the root
 */
function ownBound(
  { field, cost, isList, node, type }: BoundField,
  parents: number | null,
  scope: SelectionScope,
  sizes: ListSizes,
): Bound {
  switch (cost) {
    case 'NOTHING':
      return NO_CALLS;
    case 'ONCE':
      // `MOST_LIST_CALLS` covers whole lists. With arguments, a list may be a call of its own.
      return parents === null && isList && (node.arguments?.length ?? 0) > 0
        ? { ...NO_CALLS, calls: 1 }
        : NO_CALLS;
    case 'EACH':
      return (parents ?? 1) === 1 ? { ...NO_CALLS, calls: 1 } : UNBOUNDED;
    case 'IDENTIFIED':
      return (parents ?? 1) === 1 && !isList ? { ...NO_CALLS, calls: 1 } : UNBOUNDED;
    case 'REFERENCED':
      return areByKeys(argumentsOf(field, node, scope), scope) ? NO_CALLS : UNBOUNDED;
    case 'FIGURES':
      if (type.name === 'Observation')
        return derivedBound(field, argumentsOf(field, node, scope), parents, sizes);
      return figuresBound(field, argumentsOf(field, node, scope), parents, isList, sizes);
    case 'UNSAID':
      return UNBOUNDED;
  }
}

/** True if all references are by key, and so resolved from lists; one by global identifier may take any call. */
function areByKeys({ representations = [] }: Readonly<Record<string, unknown>>, { schema }: SelectionScope) {
  return [representations].flat().every((reference) => {
    const name = (reference as { readonly __typename?: unknown } | null)?.__typename;
    if (typeof name !== 'string') return true;
    const type = schema.getType(name);
    return name !== 'Node' && !(isObjectType(type) && type.extensions.isFoundById);
  });
}

/** Null for any type but a connection. */
function rowTypeOf(type: GraphQLNamedType): GraphQLObjectType | null {
  return (isObjectType(type) && type.extensions.rowType) || null;
}

/** True for a list, or a page of one. */
export function holdsList({ type }: GraphQLField<unknown, unknown>): boolean {
  return isListType(getNullableType(type)) || rowTypeOf(getNamedType(type)) !== null;
}

/** A country or an indicator that no argument names is the object that has the field. */
function figuresBound(
  { args: taken }: GraphQLField<unknown, unknown>,
  args: Readonly<Record<string, unknown>>,
  parents: number | null,
  isList: boolean,
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
  if (!isList || (args.latest === true && args.toYear == null && args.scope !== 'PLACES'))
    return { ...NO_CALLS, latestFigures: tableOf(countries, metrics, sizes) };
  // At most a call for each series, and one to find out that the service doesn't support years.
  const hasYears = args.fromYear != null || args.toYear != null;
  return { ...NO_CALLS, calls: countries * metrics + Number(hasYears) };
}

/** The most items of a list: as many countries or indicators may have figures below it. */
function mostOf(
  { type }: GraphQLField<unknown, unknown>,
  args: Readonly<Record<string, unknown>>,
  sizes: ListSizes,
): number {
  const named = getNamedType(type);
  const all = (rowTypeOf(named) ?? named).name === 'Country' ? sizes.countries : sizes.metrics;
  const lengths = Object.values(args).map((value) => (Array.isArray(value) ? value.length : 0));
  return Math.max(all, ...lengths);
}

/** Cells of a table in which each name of the shorter list counts for a whole line. */
function tableOf(countries: number, metrics: number, sizes: ListSizes): number {
  const [lines, length] = countries < metrics ? [countries, metrics] : [metrics, countries];
  return lines * Math.max(sizes.metrics, Number.isFinite(length) ? length : 0);
}

/** A series of each country in the comparison, and its latest figure. */
function derivedBound(
  { name }: GraphQLField<unknown, unknown>,
  { among }: Readonly<Record<string, unknown>>,
  parents: number | null,
  sizes: ListSizes,
): Bound {
  if (parents !== 1) return UNBOUNDED;
  const countries = name === 'rank' ? lengthOf(among, sizes.countries) : 1;
  // One more to find out that the service doesn't support years.
  return { calls: countries + 1, latestFigures: tableOf(countries, 1, sizes) };
}

/** An omitted list means all names. */
function lengthOf(list: unknown, all: number): number {
  return Array.isArray(list) ? list.length : all;
}

/** Empty if the arguments are invalid, which the run reports before any call. */
export function argumentsOf(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  { variableValues }: SelectionScope,
): Readonly<Record<string, unknown>> {
  try {
    return getArgumentValues(field, node, variableValues);
  } catch {
    return {};
  }
}
