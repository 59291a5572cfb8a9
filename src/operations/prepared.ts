import { hash } from 'node:crypto';
import {
  type DocumentNode,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { createLru, type Shrinkable, shrinkTo } from '../cache/lru.ts';
import { conditionsOf, type Plan, planOperation } from '../execution/plan.ts';
import { leadsToFigures, type SelectionScope } from '../graph/selection.ts';
import { type Bound, boundOf, DOCUMENTED, type ListSizes } from '../pricing/bound.ts';
import { footprintOf, MAX_PLANS } from './footprint.ts';
import { NO_VARIABLES } from './requests.ts';

/** An operation that was found valid, so that it can run without another parse and validation. */
export interface Prepared {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** Plans the operation for some variables; null if they don't fit, or graphql-js has to run it. */
  with(variables: Readonly<Record<string, unknown>>): PlannedOperation | null;
}

/** An operation and its variables, coerced. */
export interface PlannedOperation {
  readonly prepared: Prepared;
  readonly plan: Plan;
  readonly variables: Readonly<Record<string, unknown>>;
  /** True if it can ask for figures, as its text shows. */
  readonly leadsToFigures: boolean;
  /** The most that it can take. */
  readonly bound: Bound;
}

export interface PreparedOperations extends Shrinkable {
  find(text: string, operationName: string | undefined, isProven: boolean): Prepared | undefined;
  /** Prepares an operation of a valid document; it may still turn out that graphql-js has to run it. */
  prepare(
    text: string,
    operationName: string | undefined,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    /** True if it is for a key that the service has accepted lately. */
    isProven: boolean,
  ): Prepared;
}

/**
 * Bytes of operations that are kept ready at once for keys that the service has accepted lately, unless told. Other
 * keys have the share below.
 */
const MAX_BYTES = 64_000_000;
const UNPROVEN_SHARE = 1 / 8;

/** Operations that are remembered to have come before. */
const MAX_SEEN = { proven: 20_000, unproven: 2_000 };

/**
 * @param listed sizes that the service's own lists have shown: operations are bounded by them
 * @param maxBytes of the operations that are kept ready
 */
export function createPreparedOperations(
  schema: GraphQLSchema,
  listed: () => ListSizes = () => DOCUMENTED,
  maxBytes = MAX_BYTES,
): PreparedOperations {
  const tables = {
    proven: createTable('proven', maxBytes),
    unproven: createTable('unproven', maxBytes * UNPROVEN_SHARE),
  };
  const nameOf = (text: string, operationName: string | undefined) => `${operationName ?? ''}\n${text}`;

  return {
    find(text, operationName, isProven) {
      const name = nameOf(text, operationName);
      const known = tables.proven.ready.get(name);
      if (known !== undefined) return known.prepared;
      const entry = tables.unproven.ready.get(name);
      if (entry !== undefined && isProven) tables.proven.ready.set(name, entry);
      return entry?.prepared;
    },
    prepare(text, operationName, document, operation, isProven) {
      const prepared = prepareOperation(schema, document, operation, listed);
      const { seen, ready } = tables[isProven ? 'proven' : 'unproven'];
      const name = nameOf(text, operationName);
      const digest = hash('sha1', name);
      if (tables.proven.seen.has(digest) || tables.unproven.seen.has(digest))
        ready.set(name, { prepared, bytes: footprintOf(text, document, operation) });
      else seen.set(digest, true);
      return prepared;
    },
    shrink(share) {
      shrinkTo(tables.proven.ready, share);
      shrinkTo(tables.unproven.ready, share);
    },
  };
}

interface KeptOperation {
  readonly prepared: Prepared;
  readonly bytes: number;
}

/** Makes a table. Operations are kept ready from their second use on: most that are made up are never seen again. */
function createTable(whose: 'proven' | 'unproven', maxBytes: number) {
  return {
    seen: createLru<true>(MAX_SEEN[whose]),
    ready: new LRUCache<string, KeptOperation>({
      maxSize: Math.max(1, Math.round(maxBytes)),
      sizeCalculation: ({ bytes }) => bytes,
    }),
  };
}

/** The parts that change with no variables but those that `@skip` and `@include` ask. */
type Planned = Pick<PlannedOperation, 'plan' | 'leadsToFigures' | 'bound'>;

function prepareOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  listed: () => ListSizes,
): Prepared {
  const conditions = conditionsOf(document);
  const definitions = operation.variableDefinitions ?? [];
  const plans = new LRUCache<string, Planned>({ max: MAX_PLANS });

  function planFor(variables: PlannedOperation['variables']): Planned | null {
    const sizes = listed();
    const signature = `${sizes.countries} ${sizes.metrics} ${conditions.map((name) => String(variables[name])).join()}`;
    const known = plans.get(signature);
    if (known !== undefined) return known;
    const plan = planOperation(schema, document, operation, variables);
    if (plan === null) return null;
    const scope = scopeOf(plan, variables);
    const made = {
      plan,
      leadsToFigures: leadsToFigures(plan.root.type, operation.selectionSet, scope),
      bound: boundOf(schema, operation, scope, sizes),
    };
    plans.set(signature, made);
    return made;
  }

  const prepared: Prepared = {
    document,
    operation,
    with(given) {
      if (definitions.length === 0) {
        const planned = planFor(NO_VARIABLES);
        return planned && { prepared, variables: NO_VARIABLES, ...planned };
      }
      const { coerced } = getVariableValues(schema, definitions, given);
      const planned = coerced === undefined ? null : planFor(coerced);
      if (coerced === undefined || planned === null) return null;
      const bound = boundOf(schema, operation, scopeOf(planned.plan, coerced), listed());
      return { prepared, variables: coerced, ...planned, bound };
    },
  };
  return prepared;
}

function scopeOf({ schema, fragments }: Plan, variables: PlannedOperation['variables']): SelectionScope {
  return { schema, fragments, variableValues: { ...variables } };
}

/** Fields of the root that read the schema, and one that reads nothing. */
const SCHEMA_FIELDS = /^(__schema|__type|_service)$/;

/** Tells if a text may ask about the schema at all: most don't, and needn't be looked up. */
export function mayReadSchema(text: string): boolean {
  return (
    text.includes('__schema') ||
    text.includes('_service') ||
    (text.includes('__type') && /__type(?!name)/.test(text))
  );
}

/** Tells if an operation reads the schema and nothing else. */
export function readsSchemaAlone({ selectionSet }: OperationDefinitionNode): boolean {
  let count = 0;
  for (const selection of selectionSet.selections) {
    if (selection.kind !== Kind.FIELD) return false;
    const { value } = selection.name;
    if (SCHEMA_FIELDS.test(value)) count += 1;
    else if (value !== '__typename') return false;
  }
  return count > 0;
}

/** An operation that Apollo Server has found valid. */
export interface ValidOperation {
  readonly text: string;
  readonly operationName: string | undefined;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** The plan of an operation, in place of its answer. */
export interface Explanation {
  readonly errors: readonly GraphQLFormattedError[];
  readonly extensions: Record<string, unknown>;
}
