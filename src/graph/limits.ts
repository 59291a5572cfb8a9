import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth';
import { type ASTVisitor, GraphQLError, type ValidationContext, type ValidationRule } from 'graphql';
import { Failure } from '../errors.ts';

export interface OperationLimits {
  readonly maxDepth: number;
  readonly maxAliases: number;
  readonly maxRootFields: number;
}

/** Limits that an operation's text alone can exceed, as validation rules: such an operation never runs. */
export function limitRules({ maxDepth, maxAliases, maxRootFields }: OperationLimits): ValidationRule[] {
  return [
    // With no `allowList` the rule would overlook aliases of `__typename`.
    armored(maxAliasesRule({ n: maxAliases, allowList: [], ...refusing('aliases', maxAliases) })),
    armored(maxDepthRule({ n: maxDepth, flattenFragments: true, ...refusing('levels deep', maxDepth) })),
    maxRootFieldsRule(maxRootFields),
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
      const count = operation.selectionSet.selections.length;
      if (count > limit) context.reportError(tooExpensive('root fields', count, limit));
    },
  });
}

function tooExpensive(what: string, planned: number, limit: number): GraphQLError {
  const message = `The operation has ${planned} ${what}; this gateway takes ${limit}.`;
  return new GraphQLError(message, {
    originalError: new Failure('OPERATION_TOO_EXPENSIVE', message, { planned, limit }),
  });
}
