import {
  type DocumentNode,
  execute,
  type GraphQLError,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { lookedAt, type Shelf } from '../cache/shelf.ts';
import { type CachedFiguresParts, cachedFigures } from '../loaders/cached-figures.ts';
import { createCells } from '../loaders/cells.ts';
import { NO_COMPANIONS } from '../loaders/companions.ts';
import type { Culprits } from '../loaders/culprits.ts';
import { fetchFigures } from '../loaders/figures.ts';
import { createHolds } from '../loaders/holds.ts';
import { createLoaders } from '../loaders/loaders.ts';
import type { Seat } from '../loaders/observation-pool.ts';
import type { Outcome } from '../loaders/outcome.ts';
import { createRenewal } from '../loaders/renewal.ts';
import type { TickersLearned } from '../loaders/tickers.ts';
import type { Demand } from '../planner/demand.ts';
import { frozen, type Learned } from '../planner/learned.ts';
import { cached, type Freshness } from '../upstream/cached.ts';
import { type Bill, type Call, type Caller, openBill, type Sending } from '../upstream/call.ts';
import { coalesced } from '../upstream/coalesced.ts';
import type { QuotaRecord } from '../upstream/ledger.ts';
import type { Rehearsal } from '../upstream/rehearsed.ts';
import { vouched } from '../upstream/vouched.ts';
import { isFigureField, type SelectionScope } from './selection.ts';

/** An operation with its variables coerced, ready to run. */
export interface PricedOperation {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly caller: Caller;
}

export interface Price {
  readonly bill: Bill;
  /** The calls it takes, and those that what is held would answer. */
  readonly calls: readonly PricedCall[];
  /** What the operation would fail with before anything is sent. */
  readonly errors: readonly GraphQLError[];
}

export interface PricedCall extends Call {
  /** Whether it is not sent, since what is held answers it. */
  readonly isHeld: boolean;
}

export interface PricingParts {
  readonly schema: GraphQLSchema;
  readonly rehearsal: Rehearsal;
  readonly shelf: Shelf;
  readonly freshness: Freshness;
  readonly now: () => number;
  readonly learned: Learned;
  readonly culprits: Culprits;
  readonly tickersLearned: TickersLearned;
  readonly codesPerCall: number;
  readonly overfetchRows: number;
  readonly holdMs: number;
  readonly quota: (partition: string) => Promise<QuotaRecord>;
}

/**
 * Prices operations by running them over a stand-in for the service, through the very resolvers, loaders and planner
 * that will run them for real: what it would ask for is what it costs.
 */
export function createPricing(parts: PricingParts): (priced: PricedOperation) => Promise<Price> {
  const { freshness, now } = parts;
  return async ({ document, operation, variables, caller }) => {
    const bill = openBill();
    const calls: PricedCall[] = [];
    const heldDemands: Demand[] = [];
    const shelf = lookedAt(parts.shelf);
    const note = (call: Call) => calls.push({ ...call, isHeld: false });
    const noteHeld = (call: Call) => calls.push({ ...call, isHeld: true });
    const send = coalesced(vouched(parts.rehearsal.answering(note), shelf));
    const outage = { failure: () => null };
    const ask = cached(send, { shelf, freshness, now, outage, onHeld: noteHeld });
    const sending: Sending = { caller, bill, signal: new AbortController().signal, patientUntilMs: 0 };
    const figures = { ...parts, send, learned: frozen(parts.learned), keep() {} };
    const seat: Seat = {
      expect() {},
      leave() {},
      async load(demands) {
        const outcomes = new Map<string, Outcome>();
        await fetchFigures(demands, figures, sending, (key, outcome) => outcomes.set(key, outcome));
        return outcomes;
      },
    };
    const holds = createHolds(parts.holdMs);
    const source: CachedFiguresParts = {
      seat,
      shelf,
      freshness,
      now,
      outage,
      companions: NO_COMPANIONS,
      cells: createCells(shelf),
      renewal: createRenewal({ ask, shelf, freshness, now, mayAsk: false }),
      planning: figures,
      onHeld: (demand) => heldDemands.push(demand),
    };
    const loaders = createLoaders({
      ask,
      sending,
      figures: (told) => cachedFigures(source, told),
      holds,
      tickersLearned: { ...parts.tickersLearned },
    });
    const result = await execute({
      schema: parts.schema,
      document,
      operationName: operation.name?.value,
      variableValues: variables,
      contextValue: { caller, bill, loaders, holds, quota: () => parts.quota(caller.partition) },
    });
    const asIfMissing = { ...figures, send: parts.rehearsal.answering(noteHeld) };
    await fetchFigures(heldDemands, asIfMissing, { ...sending, bill: openBill() }, () => {});
    return { bill, calls, errors: result.errors ?? [] };
  };
}

/** Routes that are asked once a country. */
const FIELDS_BY_COUNTRY: ReadonlySet<string> = new Set(['profile', 'signals', 'offices']);

/** Lists that an operation can need, with what it takes to complete them. */
const MOST_LIST_CALLS = 8;

/** Countries, or indicators, that one figure field below a list is asked for at the most. */
const MOST_PARENTS = 250;

/**
 * The most calls that an operation can take, as its text alone shows; infinite where that depends on the length of a
 * list or of a series. Spares most operations the run that prices them exactly.
 */
export function mostCalls(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  scope: SelectionScope,
  maxRows: number,
): number {
  let byCountry = 0;
  let figures = 0;

  function visit(typeName: string, set: SelectionSetNode | undefined, isBelowList: boolean): void {
    const type = schema.getType(typeName);
    if (set === undefined || !isCompositeType(type)) return;
    for (const selection of set.selections) {
      if (selection.kind !== Kind.FIELD) {
        const fragment =
          selection.kind === Kind.INLINE_FRAGMENT ? selection : scope.fragments[selection.name.value];
        visit(fragment?.typeCondition?.name.value ?? typeName, fragment?.selectionSet, isBelowList);
        continue;
      }
      const name = selection.name.value;
      if (isFigureField(typeName, name)) figures += name === 'observations' ? Number.POSITIVE_INFINITY : 1;
      if (FIELDS_BY_COUNTRY.has(name)) byCountry += isBelowList ? Number.POSITIVE_INFINITY : 1;
      if (name === 'nodes') byCountry = Number.POSITIVE_INFINITY;
      const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
      if (field === undefined) continue;
      const isList = isListType(getNullableType(field.type));
      visit(getNamedType(field.type).name, selection.selectionSet, isBelowList || isList);
    }
  }

  visit(schema.getRootType(operation.operation)?.name ?? '', operation.selectionSet, false);
  return MOST_LIST_CALLS + byCountry + Math.ceil((figures * MOST_PARENTS) / maxRows) + Math.sign(figures);
}
