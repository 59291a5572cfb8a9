import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth';
import { type ASTVisitor, GraphQLError, type ValidationContext, type ValidationRule } from 'graphql';
import type { Config } from '../../config/config.ts';
import { Failure } from '../../shared/errors.ts';
import { errorOf } from '../schema/errors.ts';
import { deferralLabelRule } from './deferral-labels.ts';
import { maxListItemsRule } from './input-limits.ts';
import { fieldCounter, selectionCounter } from './operation-size.ts';

/**
 * Rules for limits that the text alone can break: such an operation never runs. One more rule refuses other kinds of
 * operations, which the executor would report as an internal error.
 */
export function limitRules({
  maxDepth,
  maxAliases,
  maxRootFields,
  maxTokens,
  maxListItems,
}: Config): ValidationRule[] {
  return [
    // With no `allowList` the rule would overlook aliases of `__typename`.
    armored(
      maxAliasesRule({
        n: maxAliases,
        allowList: [],
        ...refusing((count) => `has ${count} aliases`, maxAliases),
      }),
    ),
    armored(
      maxDepthRule({
        n: maxDepth,
        flattenFragments: true,
        ...refusing((count) => `is ${count} levels deep`, maxDepth),
      }),
    ),
    maxRootFieldsRule(maxRootFields),
    knownOperationRule,
    maxSelectionsRule(maxTokens),
    maxListItemsRule(maxListItems),
    deferralLabelRule,
  ];
}

const armored =
  (rule: (context: ValidationContext) => object): ValidationRule =>
  (context) =>
    rule(context) as ASTVisitor;

/** The rule reports its finding in its message alone. */
function refusing(is: (count: number) => string, limit: number) {
  return {
    propagateOnRejection: false,
    onReject: [
      (context: ValidationContext | null, error: GraphQLError) => {
        // A count beyond number range is just above the limit.
        const count = Number(/found (\d+)\.$/.exec(error.message)?.[1] ?? limit + 1);
        context?.reportError(tooExpensive(is(count), count, limit));
      },
    ],
  };
}

function maxRootFieldsRule(limit: number): ValidationRule {
  return (context) => {
    const countIn = fieldCounter((name) => context.getFragment(name));
    return {
      OperationDefinition({ selectionSet }) {
        const count = countIn(selectionSet);
        if (count > limit) context.reportError(tooExpensive(`has ${count} root fields`, count, limit));
      },
    };
  };
}

/** Counted before anything walks them: fragments must not make an operation larger than it could be without any. */
function maxSelectionsRule(limit: number): ValidationRule {
  return (context) => {
    const countIn = selectionCounter((name) => context.getFragment(name));
    return {
      OperationDefinition({ selectionSet }) {
        const count = countIn(selectionSet);
        if (count > limit)
          context.reportError(
            tooExpensive(`has ${count} selections, its fragments written out`, count, limit, 'MAX_TOKENS'),
          );
      },
    };
  };
}

const knownOperationRule: ValidationRule = (context) => ({
  OperationDefinition(node) {
    if (context.getSchema().getRootType(node.operation)) return;
    const message = `This graph has no ${node.operation}s.`;
    context.reportError(new GraphQLError(message, { nodes: node }));
  },
});

function tooExpensive(is: string, planned: number, limit: number, setting?: string): GraphQLError {
  const named = setting === undefined ? '' : ` (${setting})`;
  const message = `The operation ${is}; this gateway takes ${limit}${named}.`;
  return errorOf(new Failure('OPERATION_TOO_EXPENSIVE', message, { planned, limit }));
}
