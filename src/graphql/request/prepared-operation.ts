import {
  type DocumentNode,
  type GraphQLSchema,
  getVariableValues,
  type OperationDefinitionNode,
} from 'graphql';
import type { Learned } from '../../observations/planner/learned.ts';
import { boundOf, DOCUMENTED } from '../cost/bound.ts';
import { conditionsOf, type Plan, planOperation } from '../execution/plan.ts';
import { leadToFigures } from '../schema/selection.ts';

const NO_VARIABLES: Readonly<Record<string, unknown>> = Object.freeze({});

/** Plans cached per operation, by combination of skipped and included fields. */
const MAX_PLANS = 32;

export type Prepared = ReturnType<typeof prepareOperation>;

/** Variables are coerced. */
export interface PlannedOperation {
  readonly prepared: Prepared;
  readonly plan: Plan;
  readonly variables: Readonly<Record<string, unknown>>;
  /** As its text shows. */
  readonly leadsToFigures: boolean;
  /** The most calls that it can take, if one brings `maxRows`. */
  readonly bound: (maxRows: number) => number;
}

/** Depends only on variables of `@skip` and `@include`. */
interface PlannedFor {
  readonly plan: Plan;
  readonly leadsToFigures: boolean;
  /** For an operation without variables, by list sizes. */
  bounded: { readonly sizes: typeof DOCUMENTED; readonly bound: PlannedOperation['bound'] } | null;
}

/** So that a valid operation runs again without parsing and validation. */
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
    const made = { plan, leadsToFigures: leadToFigures(plan.root.selected), bounded: null };
    if (plans.size === MAX_PLANS) plans.clear();
    plans.set(signature, made);
    return made;
  }

  function boundFor(planned: PlannedFor, variables: PlannedOperation['variables']) {
    const sizes = learned === null ? DOCUMENTED : sizesOf(learned);
    const { plan, bounded } = planned;
    const isSame = bounded?.sizes.countries === sizes.countries && bounded.sizes.metrics === sizes.metrics;
    if (bounded !== null && isSame) return bounded.bound;
    const bound = boundOf(plan, variables, sizes);
    if (definitions.length === 0) planned.bounded = { sizes, bound };
    return bound;
  }

  const prepared = {
    document,
    operation,
    /** Names of the variables that decide which fields are skipped. */
    conditions,
    maxPlans: Math.min(MAX_PLANS, 2 ** conditions.length),
    /** Null if the variables don't fit. */
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
