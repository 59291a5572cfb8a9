import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth';
import {
  type ASTVisitor,
  GraphQLError,
  Kind,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';
import { Failure } from '../errors.ts';

export interface OperationLimits {
  readonly maxDepth: number;
  readonly maxAliases: number;
  readonly maxRootFields: number;
}

/**
 * What an operation's text alone can break, as validation rules: such an operation never runs. Its limits, and that
 * there are queries only: without a rule, the executor finds that out, as if it were a fault of ours.
 */
export function limitRules({ maxDepth, maxAliases, maxRootFields }: OperationLimits): ValidationRule[] {
  return [
    // With no `allowList` the rule would overlook aliases of `__typename`.
    armored(maxAliasesRule({ n: maxAliases, allowList: [], ...refusing('aliases', maxAliases) })),
    armored(maxDepthRule({ n: maxDepth, flattenFragments: true, ...refusing('levels deep', maxDepth) })),
    maxRootFieldsRule(maxRootFields),
    knownOperationRule,
  ];
}

const armored =
  (rule: (context: ValidationContext) => object): ValidationRule =>
  (context) =>
    rule(context) as ASTVisitor;

/** Turns the rejection of a rule, which tells what it found in its message alone, into the failure of our table. */
function refusing(what: string, limit: number) {
  return {
    propagateOnRejection: false,
    onReject: [
      (context: ValidationContext | null, error: GraphQLError) => {
        const found = Number(/found (\d+)/.exec(error.message)?.[1] ?? limit + 1);
        context?.reportError(tooExpensive(what, found, limit));
      },
    ],
  };
}

function maxRootFieldsRule(limit: number): ValidationRule {
  return (context) => ({
    OperationDefinition(operation) {
      const count = countFields(operation.selectionSet, context);
      if (count > limit) context.reportError(tooExpensive('root fields', count, limit));
    },
  });
}

const knownOperationRule: ValidationRule = (context) => ({
  OperationDefinition(node) {
    if (context.getSchema().getRootType(node.operation)) return;
    const message = `This graph has no ${node.operation}s.`;
    context.reportError(new GraphQLError(message, { nodes: node }));
  },
});

/** Fields of a selection, those of its fragments among them, each fragment once. */
function countFields(set: SelectionSetNode, context: ValidationContext, seen = new Set<string>()): number {
  return set.selections.reduce((count, selection) => {
    if (selection.kind === Kind.FIELD) return count + 1;
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      return count + countFields(selection.selectionSet, context, seen);
    }
    const name = selection.name.value;
    const fragment = seen.has(name) ? undefined : context.getFragment(name);
    seen.add(name);
    return fragment ? count + countFields(fragment.selectionSet, context, seen) : count;
  }, 0);
}

function tooExpensive(what: string, planned: number, limit: number): GraphQLError {
  const message = `The operation has ${planned} ${what}; this gateway takes ${limit}.`;
  return new GraphQLError(message, {
    originalError: new Failure('OPERATION_TOO_EXPENSIVE', message, { planned, limit }),
  });
}
