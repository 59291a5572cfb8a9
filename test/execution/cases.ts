import {
  type DocumentNode,
  execute,
  type FieldNode,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionNode,
  validate,
  visit,
} from 'graphql';
import { type Plan, planOperation } from '../../src/graphql/execution/plan.ts';
import { runPlan } from '../../src/graphql/execution/run.ts';
import { Dice, mix } from './dice.ts';
import { drawOperation } from './operations.ts';
import { differenceOf, type Outcome } from './outcomes.ts';
import type { Draws } from './resolvers.ts';

/** An operation to run by both executors. */
export interface Case {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** Variables as a client sends them. */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly draws: Omit<Draws, 'mayDrop'>;
}

export function drawCase(schema: GraphQLSchema, seed: number): Case {
  const dice = new Dice(seed);
  const isLong = dice.chance(0.01);
  const { text, name, variables } = drawOperation(schema, dice, isLong ? 8 : dice.pick([6, 15, 30, 60]));
  const faultRate = dice.pick([0, 0, 0.003, 0.02, 0.12]);
  return createCase(schema, text, { name, variables, draws: { seed: mix(seed, 1), faultRate, isLong } });
}

export function createCase(
  schema: GraphQLSchema,
  text: string,
  {
    name = null,
    variables = {},
    draws = { seed: 1, faultRate: 0, isLong: false },
  }: { name?: string | null } & Partial<Pick<Case, 'variables' | 'draws'>> = {},
): Case {
  const document = parse(text);
  return { schema, document, operation: operationIn(document, name), variables, draws };
}

function operationIn(document: DocumentNode, name: string | null): OperationDefinitionNode {
  const operation = getOperationAST(document, name);
  if (operation == null) throw new Error(`No operation ${name} in ${print(document)}`);
  return operation;
}

export function coercedVariables({ schema, operation, variables }: Case): Readonly<Record<string, unknown>> {
  const { coerced, errors } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  if (coerced === undefined) throw new AggregateError(errors, `Variables do not fit: ${errors}`);
  return coerced;
}

export function planOf(drawn: Case): Plan {
  const { schema, document, operation } = drawn;
  const plan = planOperation(schema, document, operation, coercedVariables(drawn));
  if (plan === null) throw new Error('There is no plan.');
  return plan;
}

export async function runOurs(
  drawn: Case,
  plan = planOf(drawn),
  terms: Pick<Parameters<typeof runPlan>[0], 'onPause' | 'errorBehavior'> = {},
  onPath?: Draws['onPath'],
): Promise<Outcome> {
  const context: Draws = { ...drawn.draws, mayDrop: false, onPath };
  const variables = coercedVariables(drawn);
  const { data, errors } = await runPlan({ plan, context, variables, ...terms });
  return { data: data.join(''), errors };
}

export async function runTheirs(
  { schema, document, operation, variables, draws }: Case,
  onPath?: Draws['onPath'],
): Promise<Outcome> {
  const context: Draws = { ...draws, mayDrop: true, onPath };
  const { data, errors = [] } = await execute({
    schema,
    document,
    operationName: operation.name?.value ?? null,
    variableValues: variables,
    contextValue: context,
  });
  return { data: JSON.stringify(data), errors };
}

/** A difference over a case, and the least of the case over which the executors differ. */
export async function explainDifference(drawn: Case, difference: string): Promise<string> {
  const least = await shrink(drawn);
  const { document, variables, draws } = least;
  const setting = JSON.stringify({ variables, draws });
  return [difference, 'Shrunk:', await differenceIn(least), print(document), setting].join('\n\n');
}

async function differenceIn(drawn: Case): Promise<string | null> {
  try {
    return differenceOf(await runOurs(drawn), await runTheirs(drawn));
  } catch (error) {
    return `Ours fails: ${(error as Error).stack}`;
  }
}

/** Leaves out selections as long as the executors differ. */
async function shrink(drawn: Case): Promise<Case> {
  for (const document of smallerDocuments(drawn.document)) {
    if (validate(drawn.schema, document).length > 0) continue;
    const operation = operationIn(document, drawn.operation.name?.value ?? null);
    const candidate = { ...drawn, document, operation };
    if ((await differenceIn(candidate)) !== null) return shrink(candidate);
  }
  return drawn;
}

const TYPENAME: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } };

/** A document without one of its selections, for each of those; an only one gives way to `__typename`. */
function* smallerDocuments(document: DocumentNode): Generator<DocumentNode> {
  const instead = new Map<SelectionNode, FieldNode | null>();
  visit(document, {
    SelectionSet({ selections }) {
      for (const selection of selections) {
        if (selections.length > 1) instead.set(selection, null);
        else if (print(selection) !== '__typename') instead.set(selection, TYPENAME);
      }
    },
  });
  for (const [left, replacement] of instead) {
    const leave = (node: SelectionNode) => (node === left ? replacement : undefined);
    const smaller = visit(document, { Field: leave, FragmentSpread: leave, InlineFragment: leave });
    yield parse(print(withoutUnused(smaller)));
  }
}

function withoutUnused(document: DocumentNode): DocumentNode {
  const spread = new Set<string>();
  visit(document, { FragmentSpread: ({ name }) => void spread.add(name.value) });
  const definitions = document.definitions.filter(
    (definition) => definition.kind !== Kind.FRAGMENT_DEFINITION || spread.has(definition.name.value),
  );
  if (definitions.length < document.definitions.length) return withoutUnused({ ...document, definitions });
  const used = new Set<string>();
  visit(document, {
    VariableDefinition: () => false,
    Variable: ({ name }) => void used.add(name.value),
  });
  return visit(document, {
    VariableDefinition: ({ variable }) => (used.has(variable.name.value) ? undefined : null),
  });
}
