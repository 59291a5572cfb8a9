import {
  type DocumentNode,
  type GraphQLSchema,
  getVariableValues,
  type OperationDefinitionNode,
} from 'graphql';
import type { Learned } from '../../observations/planner/learned.ts';
import { boundOf, DOCUMENTED } from '../cost/bound.ts';
import { conditionsOf, type Plan, planOperation } from '../execution/plan.ts';
import { leadsToFigures, type SelectionScope } from '../schema/selection.ts';
import type { AskedText } from './persisted.ts';

const NO_VARIABLES: Readonly<Record<string, unknown>> = Object.freeze({});

/** Combinations of skipped and included fields that are cached of one operation. */
const MAX_PLANS = 32;

export type Prepared = ReturnType<typeof prepareOperation>;

/** An operation and its variables, coerced. */
export interface PlannedOperation {
  readonly prepared: Prepared;
  readonly plan: Plan;
  readonly variables: Readonly<Record<string, unknown>>;
  /** True if it can ask for figures, as its text shows. */
  readonly leadsToFigures: boolean;
  /** Returns the most calls that it can take, if one brings so many rows. */
  readonly bound: (maxRows: number) => number;
}

/** The parts of an operation that change with no variables but those that `@skip` and `@include` ask. */
interface PlannedFor {
  readonly plan: Plan;
  readonly leadsToFigures: boolean;
  /** The bound of an operation without variables, for lists of some sizes. */
  bounded: { readonly sizes: typeof DOCUMENTED; readonly bound: PlannedOperation['bound'] } | null;
}

/** Makes ready an operation that was found valid, so that it can run without another parse and validation. */
export function prepareOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  learned: Learned | null,
) {
  const conditions = conditionsOf(document);
  const definitions = operation.variableDefinitions ?? [];
  const plans = new Map<string, PlannedFor>();

  function planFor(variables: PlannedOperation['variables']): PlannedFor {
    const signature = conditions.map((name) => String(variables[name])).join();
    const cachedPlan = plans.get(signature);
    if (cachedPlan !== undefined) return cachedPlan;
    const plan = planOperation(schema, document, operation, variables);
    const leads = leadsToFigures(plan.root.type, operation.selectionSet, scopeOf(plan, variables));
    const made = { plan, leadsToFigures: leads, bounded: null };
    if (plans.size === MAX_PLANS) plans.clear();
    plans.set(signature, made);
    return made;
  }

  function boundFor(planned: PlannedFor, variables: PlannedOperation['variables']) {
    const sizes = learned === null ? DOCUMENTED : sizesOf(learned);
    const { plan, bounded } = planned;
    const isSame = bounded?.sizes.countries === sizes.countries && bounded.sizes.metrics === sizes.metrics;
    if (bounded !== null && isSame) return bounded.bound;
    const bound = boundOf(schema, operation, scopeOf(plan, variables), sizes);
    if (definitions.length === 0) planned.bounded = { sizes, bound };
    return bound;
  }

  const prepared = {
    document,
    operation,
    /** The most plans that are cached of it. */
    maxPlans: Math.min(MAX_PLANS, 2 ** conditions.length),
    /** Plans the operation for some variables; null if they don't fit. */
    with(given: PlannedOperation['variables']): PlannedOperation | null {
      const variables =
        definitions.length === 0 ? NO_VARIABLES : getVariableValues(schema, definitions, given).coerced;
      if (variables === undefined) return null;
      const planned = planFor(variables);
      const { plan, leadsToFigures } = planned;
      return { prepared, variables, plan, leadsToFigures, bound: boundFor(planned, variables) };
    },
  };
  return prepared;
}

function sizesOf({ listed }: Learned) {
  return { countries: listed.countries.size, metrics: listed.metrics.size };
}

function scopeOf({ schema, fragments }: Plan, variables: PlannedOperation['variables']): SelectionScope {
  return { schema, fragments, variableValues: { ...variables } };
}

/** An operation that Apollo Server has found valid. */
export interface ValidOperation extends AskedText {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
}
