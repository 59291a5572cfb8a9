import { type GraphQLField, type GraphQLSchema, getNamedType, type OperationDefinitionNode } from 'graphql';
import { type Demand, type RowsOf, wholeKey, type YearRange } from '../../observations/planner/demand.ts';
import type { CoverLimits } from '../../observations/planner/tiling.ts';
import { openBill } from '../../service/bill.ts';
import type { Call } from '../../service/call.ts';
import { countries, indicators, observations } from '../../service/endpoints.ts';
import { type Payer, payerOf } from '../../service/payer.ts';
import { Failure } from '../../shared/errors.ts';
import { costOf, type FieldCost, isLeftOut, rowTypeOf, type SelectionScope } from '../schema/selection.ts';
import { argumentsOf, holdsList, summing } from './bound.ts';

interface PricedCall extends Call {
  /** True if it is not sent, since a cached value answers it. */
  readonly isCached: boolean;
}

interface Ceilings {
  readonly limit: number;
  /** True if only the price is asked for: then it is shown beyond the limit, too. */
  readonly isExplained: boolean;
  /** True if the service has accepted the key lately. */
  readonly isProven: boolean;
  readonly isCertain: boolean;
  /** Counts the fewest calls for the figures that are not cached. */
  readonly fewest: ReturnType<typeof createFewestCalls>;
  /** Names the field that takes the most calls to a route; null if none can be told. */
  readonly dearest: (route: string) => string | null;
}

/** Times the limit up to which a price is still exact: then the caller knows how much less to ask for. */
const PRICED_BEYOND = 10;

/** Figures that are planned for a made-up key: an operation that may run takes a plan of fewer, or none. */
const MOST_PLANNED_UNPROVEN = 2_500;

/** Opens the state of pricing one operation, while it goes on. */
export function openTally(parts: Ceilings) {
  const { limit, isExplained, isProven, fewest, dearest } = parts;
  const bill = openBill();
  const free = payerOf(bill);
  const mostCalls = limit * PRICED_BEYOND;
  // A plan of figures is dear, a count of calls for single records is not.
  const mostByFigures = isExplained && isProven ? mostCalls : limit;
  let refusal: Failure | null = null;

  const dataCalls = () => bill.byRoute[observations.route] ?? 0;

  /** Returns the route that the operation takes the most calls to, as far as it has come. */
  function dearestRoute(): string {
    const counts = { ...bill.byRoute, [observations.route]: Math.max(dataCalls(), fewest.calls) };
    return Object.entries(counts).reduce((most, one) => (one[1] > most[1] ? one : most))[0];
  }

  function refuse(planned: number, orMore = ''): Failure {
    if (refusal !== null) return refusal;
    const route = dearestRoute();
    const field = dearest(route) ?? undefined;
    const where = `most of them to ${route}${field === undefined ? '' : ` for ${field}`}`;
    const message = `The operation plans ${orMore}${planned} upstream calls, ${where}; this gateway allows ${limit} (MAX_UPSTREAM_CALLS).`;
    refusal = new Failure('OPERATION_TOO_EXPENSIVE', message, { planned, limit, route, field });
    return refusal;
  }

  function refuseUnproven(figures: number): Failure {
    const field = dearest(observations.route) ?? undefined;
    const message = `The operation takes a plan of more figures than the ${MOST_PLANNED_UNPROVEN} that this gateway plans under a key that the service has not accepted lately. Ask for something small first, so that the key is known.`;
    const fields = { planned: figures, limit: MOST_PLANNED_UNPROVEN, route: observations.route, field };
    refusal ??= new Failure('OPERATION_TOO_EXPENSIVE', message, fields);
    return refusal;
  }

  /** Ends the pricing if the operation is certain to be refused. */
  const payer: Payer = {
    reserve(route) {
      if (refusal !== null) throw refusal;
      if (bill.calls >= mostCalls) throw refuse(bill.calls + 1, 'at least ');
      return free.reserve(route);
    },
  };

  return {
    bill,
    payer,
    /** Calls that it takes, and calls that are spared since cached values answer them. */
    calls: [] as PricedCall[],
    /** Demands that were met by cached figures. */
    cachedDemands: [] as Demand[],
    /** True if the operation takes just these calls, for any answers of the service. */
    isCertain: parts.isCertain,
    /** True if a look at the sources may spare the operation the calls for figures that are past their time. */
    mayBeRenewed: false,
    /** True if figures leave beside the list that tells of which countries they are: then their call may be for nothing. */
    mayGuess: false,
    /** The failure for which the operation is not priced to the end, or takes more than it may; null if neither is so. */
    get refusal() {
      return refusal;
    },
    /**
     * Counts a figure that is not cached, before it is planned.
     * @throws Failure OPERATION_TOO_EXPENSIVE if no plan can do any more
     */
    want(demand: Demand) {
      if (refusal !== null) throw refusal;
      fewest.add(demand);
      if (fewest.calls > mostByFigures) {
        const otherCalls = bill.calls - dataCalls();
        throw refuse(otherCalls + Math.max(dataCalls(), fewest.calls), 'at least ');
      }
      if (!isProven && fewest.figures > MOST_PLANNED_UNPROVEN) throw refuseUnproven(fewest.figures);
    },
    /** Refuses the operation if it has come to more calls than it may take. */
    close() {
      if (refusal === null && !isExplained && bill.calls > limit) refuse(bill.calls);
    },
  };
}

/** A field that takes calls: its estimated weight, and the response names of the fields down to it. */
interface Weighed {
  readonly weight: number;
  readonly path: readonly string[];
}

/** Items of lists whose length the text doesn't tell: the documented number of countries and of indicators. */
const USUAL_ITEMS: Readonly<Record<string, number>> = { Country: 54, Indicator: 207 };

const SOME_ITEMS = 20;

const SERIES_ROWS = 77;

const NOTHING: Weighed = { weight: 0, path: [] };

/**
 * Names the field of an operation that takes the most calls to a route, by its text and its arguments alone: lists are
 * taken to be as documented. Only names it, and decides nothing.
 * @returns response names down to it, such as `countries.observations`; null if no field takes calls
 */
export function dearestField(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  scope: SelectionScope,
  route: string,
): string | null {
  const isMeant = takenBy(route);
  const dearestOf = summing<Weighed>(schema, scope, {
    nothing: NOTHING,
    both: (a, b) => (b.weight > a.weight ? b : a),
    isLeftOut: (selection) => isLeftOut(selection, scope),
    ofField(field, node, parentType, parents, dearestBelow) {
      const args = argumentsOf(field, node, scope);
      const isList = holdsList(field);
      const type = getNamedType(field.type);
      const { name } = rowTypeOf(type) ?? type;
      const fieldCalls = isMeant(costOf(field)) ? parents * ownWeight(field, args, isList) : 0;
      // The rows of a page are those that its connection was weighed for.
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

/** Tells fields that may take calls to a route from others. */
function takenBy(route: string): (cost: FieldCost) => boolean {
  if (route === observations.route) return (cost) => cost === 'FIGURES' || cost === 'UNSAID';
  if (route === countries.route || route === indicators.route) return (cost) => cost === 'ONCE';
  return (cost) => cost !== 'NOTHING' && cost !== 'FIGURES';
}

/** Weighs a field for each object that has it: rows of figures, or one call. */
function ownWeight(
  field: GraphQLField<unknown, unknown>,
  args: Readonly<Record<string, unknown>>,
  isList: boolean,
): number {
  const cost = costOf(field);
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

const NO_ROWS: RowsOf = () => 0;

/**
 * Bounds the calls for figures from below while demands are still coming, at next to no work: each call brings a
 * number of rows and names a number of codes at the most, so the sums of the demands tell the least.
 */
export function createFewestCalls(
  { maxRows, maxCodes }: CoverLimits,
  seriesRows: RowsOf,
  rowsWithin: (years: YearRange) => RowsOf = () => NO_ROWS,
) {
  /** Rows by figure: for a series, the most that one demand takes of it. */
  const counted = new Map<string, number>();
  const countryCodes = new Set<string>();
  const metricKeys = new Set<string>();
  let [latest, series] = [0, 0];
  return {
    get figures() {
      return counted.size;
    },
    get calls() {
      // Latest figures may all stand in the series.
      const rows = Math.max(series === 0 ? latest : 0, series);
      const names = Math.max(countryCodes.size, metricKeys.size);
      return Math.max(Math.ceil(rows / maxRows), Math.ceil(names / maxCodes));
    },
    /** Counts a figure, once for all its demands. */
    add(demand: Demand) {
      const { mode, years, countryCode, metricKey } = demand;
      const key = wholeKey(demand);
      const before = counted.get(key);
      if (before !== undefined && mode === 'latest') return;
      countryCodes.add(countryCode);
      metricKeys.add(metricKey);
      const rowsOf = years === null ? seriesRows : rowsWithin(years);
      // A pair beyond the limit is a call of its own.
      const rows = mode === 'latest' ? 1 : Math.min(maxRows, rowsOf(countryCode, metricKey));
      counted.set(key, Math.max(rows, before ?? 0));
      if (mode === 'latest') latest += 1;
      else series += Math.max(0, rows - (before ?? 0));
    },
  };
}
