import {
  type DocumentNode,
  type GraphQLSchema,
  getVariableValues,
  type OperationDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { conditionsOf, type Plan, planOperation } from '../execution/plan.ts';
import { type Bound, boundOf } from '../graph/pricing.ts';
import { leadsToFigures, type SelectionScope } from '../graph/selection.ts';
import { NO_VARIABLES } from './requests.ts';

/** An operation that was found valid, so that it can run without being parsed and validated again. */
export interface Prepared {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** The operation for some variables; null where they don't fit, or graphql-js has to run it. */
  with(variables: Readonly<Record<string, unknown>>): Ready | null;
}

/** An operation and its variables, coerced. */
export interface Ready {
  readonly prepared: Prepared;
  readonly plan: Plan;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Whether it can ask for figures, as its text shows. */
  readonly leadsToFigures: boolean;
  /** The most that it can take. */
  readonly bound: Bound;
}

export interface PreparedOperations {
  find(text: string, operationName: string | undefined): Prepared | undefined;
  /** Prepares an operation of a valid document; it may still turn out that graphql-js has to run it. */
  prepare(
    text: string,
    operationName: string | undefined,
    document: DocumentNode,
    operation: OperationDefinitionNode,
  ): Prepared;
}

/** Characters of operations that are kept ready at once. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

/** Combinations of what is skipped and included that are kept ready of one operation. */
const MAX_PLANS = 32;

export function createPreparedOperations(schema: GraphQLSchema): PreparedOperations {
  const known = new LRUCache<string, Prepared>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (_, name) => name.length,
  });
  const nameOf = (text: string, operationName: string | undefined) => `${operationName ?? ''}\n${text}`;

  return {
    find: (text, operationName) => known.get(nameOf(text, operationName)),
    prepare(text, operationName, document, operation) {
      const prepared = prepareOperation(schema, document, operation);
      known.set(nameOf(text, operationName), prepared);
      return prepared;
    },
  };
}

/** What doesn't change with the variables, but for those that `@skip` and `@include` ask. */
type Planned = Pick<Ready, 'plan' | 'leadsToFigures' | 'bound'>;

function prepareOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Prepared {
  const conditions = conditionsOf(document);
  const definitions = operation.variableDefinitions ?? [];
  const plans = new LRUCache<string, Planned>({ max: MAX_PLANS });

  function planFor(variables: Ready['variables']): Planned | null {
    const signature = conditions.map((name) => String(variables[name])).join();
    const known = plans.get(signature);
    if (known !== undefined) return known;
    const plan = planOperation(schema, document, operation, variables);
    if (plan === null) return null;
    const scope = scopeOf(plan, variables);
    const made = {
      plan,
      leadsToFigures: leadsToFigures(plan.root.type, operation.selectionSet, scope),
      bound: boundOf(schema, operation, scope),
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
      const bound = boundOf(schema, operation, scopeOf(planned.plan, coerced));
      return { prepared, variables: coerced, ...planned, bound };
    },
  };
  return prepared;
}

function scopeOf({ schema, fragments }: Plan, variables: Ready['variables']): SelectionScope {
  return { schema, fragments, variableValues: { ...variables } };
}
