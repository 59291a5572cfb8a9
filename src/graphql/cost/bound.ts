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

/** A list is replaced no more often: each is cached for long anyway. */
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
  const keyOf = (tenant: Tenant, { target }: Call) => `${tenant.digest} ${target}`;
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
    routes,
    /** Undefined if none has been given. */
    of: (tenant: Tenant, call: Call): unknown => given.get(keyOf(tenant, call))?.body,
    remembering:
      (next: Send): Send =>
      (call, sending) => {
        const answering = next(call, sending);
        if (!routes.has(call.route)) return answering;
        return answering.then((answer) => {
          if (answer.status === 200) cacheList(keyOf(sending.caller.tenant, call), answer);
          return answer;
        });
      },
  };
}

interface FieldSum<Sum> {
  readonly nothing: Sum;
  readonly both: (a: Sum, b: Sum) => Sum;
  /** Selections that don't count; left out if all do. */
  readonly isLeftOut?: (selection: SelectionNode) => boolean;
  /**
   * Includes the field's selection.
   * @param parents objects that have the field
   */
  ofField(
    field: GraphQLField<unknown, unknown>,
    node: FieldNode,
    type: GraphQLCompositeType,
    parents: number,
    below: SumOfSet<Sum>,
  ): Sum;
}

/** @param parents objects that have the selection */
type SumOfSet<Sum> = (
  type: GraphQLNamedType | null | undefined,
  set: SelectionSetNode,
  parents: number,
) => Sum;

/** A fragment is walked once for each number of parents, not along each path to it. */
export function summing<Sum>(
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

/** For the lists that an operation can need, and their completion. */
const MOST_LIST_CALLS = 8;

/** Unless the service has shown longer lists. */
export const DOCUMENTED: ListSizes = { countries: 60, metrics: 250 };

/** Sizes of the service's lists that have come. */
interface ListSizes {
  readonly countries: number;
  readonly metrics: number;
}

/** By the text and the variables. */
interface Bound {
  /** Without those for latest figures; infinite if that depends on the service's answers. */
  readonly calls: number;
  /** Figures of the table of all countries and metrics asked for. */
  readonly latestFigures: number;
}

function mostCalls({ calls, latestFigures }: Bound, maxRows: number): number {
  // Cut straight, a table takes less than twice the calls that its rows need, and one more.
  return calls + (latestFigures === 0 ? 0 : Math.ceil((2 * latestFigures) / maxRows) + 1);
}

/**
 * Bounds the calls of an operation, by the rows that one brings: most operations need no exact pricing then.
 * @param listed lower bounds for the numbers of countries and indicators
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
  const boundOfSet = summing<Bound>(schema, scope, {
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

/** @param parents objects that have the field; null for a field of the root */
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
      // Filtered lists are asked for once a filter; which arguments makes no difference.
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

/** True if lists have the keys of all references. */
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

/** A list, or a page of one. */
export function holdsList({ type }: GraphQLField<unknown, unknown>): boolean {
  return isListType(getNullableType(type)) || rowTypeOf(getNamedType(type)) !== null;
}

/** If no argument names the country or the indicator, the field's object is it. */
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
  // Other fields may share the table, so each name stands for a whole line.
  if (!isList || (args.latest === true && args.toYear == null && args.scope !== 'PLACES'))
    return { ...NO_CALLS, latestFigures: tableOf(countries, metrics, sizes) };
  // At most a call for each series, and one to find out that the service takes no years.
  const hasYears = args.fromYear != null || args.toYear != null;
  return { ...NO_CALLS, calls: countries * metrics + Number(hasYears) };
}

/** Figures below a list are of as many countries or indicators. */
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

/** Each name of the shorter list stands for a whole line. */
function tableOf(countries: number, metrics: number, sizes: ListSizes): number {
  const [lines, length] = countries < metrics ? [countries, metrics] : [metrics, countries];
  return lines * Math.max(sizes.metrics, Number.isFinite(length) ? length : 0);
}

/** A series of each, and the latest figures that it is ranked among. */
function derivedBound(
  { name }: GraphQLField<unknown, unknown>,
  { among }: Readonly<Record<string, unknown>>,
  parents: number | null,
  sizes: ListSizes,
): Bound {
  if (parents !== 1) return UNBOUNDED;
  const countries = name === 'rank' ? lengthOf(among, sizes.countries) : 1;
  // One more to find out that the service takes no years.
  return { calls: countries + 1, latestFigures: tableOf(countries, 1, sizes) };
}

/** A list that is left out stands for all. */
function lengthOf(list: unknown, all: number): number {
  return Array.isArray(list) ? list.length : all;
}

/** None if they don't fit, which execution will report before anything is asked. */
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
