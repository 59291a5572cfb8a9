import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth';
import {
  type ASTVisitor,
  type DirectiveNode,
  GraphQLError,
  getNullableType,
  isListType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';
import { Failure } from '../errors.ts';

const isDeferral = ({ name }: DirectiveNode) => name.value === 'defer' || name.value === 'stream';

/** Checks labels. They tell parts of an answer apart: each is a text of its own, known before anything runs. */
const deferralLabelRule: ValidationRule = (context) => {
  const known = new Map<string, DirectiveNode>();
  return {
    Directive(node) {
      if (!isDeferral(node)) return;
      const label = node.arguments?.find(({ name }) => name.value === 'label')?.value;
      if (label === undefined || label.kind === Kind.NULL) return;
      if (label.kind !== Kind.STRING) {
        const message = `The label of @${node.name.value} has to be a text in the document, and no variable.`;
        context.reportError(new GraphQLError(message, { nodes: node }));
        return;
      }
      const other = known.get(label.value);
      known.set(label.value, node);
      if (other === undefined) return;
      const message = `Two directives have the label "${label.value}". Give each a label of its own, or none.`;
      context.reportError(new GraphQLError(message, { nodes: [other, node] }));
    },
  };
};

const streamOfListRule: ValidationRule = (context) => ({
  Directive(node) {
    if (node.name.value !== 'stream') return;
    const field = context.getFieldDef();
    const parent = context.getParentType();
    if (field == null || parent == null || isListType(getNullableType(field.type))) return;
    const message = `@stream is for lists, and ${parent.name}.${field.name} is none. Defer it by @defer on a fragment around it.`;
    context.reportError(new GraphQLError(message, { nodes: node }));
  },
});

/** Rules for `@defer` and `@stream`, by the draft of the specification. */
const deferralRules: readonly ValidationRule[] = [deferralLabelRule, streamOfListRule];

interface OperationLimits {
  readonly maxDepth: number;
  readonly maxAliases: number;
  readonly maxRootFields: number;
  /** Tokens of a document, and selections of an operation once its fragments are written out. */
  readonly maxTokens: number;
  /** Items of one list, in the text or in a variable. */
  readonly maxListItems: number;
}

/**
 * Validation rules for limits that an operation's text alone can break: such an operation never runs. One more rule has
 * it that there are queries only: without it, the executor would find that out, as if it were a fault of ours.
 */
export function limitRules({
  maxDepth,
  maxAliases,
  maxRootFields,
  maxTokens,
  maxListItems,
}: OperationLimits): ValidationRule[] {
  return [
    // With no `allowList` the rule would overlook aliases of `__typename`.
    armored(
      maxAliasesRule({
        n: maxAliases,
        allowList: [],
        ...refusing((found) => `has ${found} aliases`, maxAliases),
      }),
    ),
    armored(
      maxDepthRule({
        n: maxDepth,
        flattenFragments: true,
        ...refusing((found) => `is ${found} levels deep`, maxDepth),
      }),
    ),
    maxRootFieldsRule(maxRootFields),
    maxSelectionsRule(maxTokens),
    maxListItemsRule(maxListItems),
    knownOperationRule,
    ...deferralRules,
  ];
}

const armored =
  (rule: (context: ValidationContext) => object): ValidationRule =>
  (context) =>
    rule(context) as ASTVisitor;

/** Turns the rejection of a rule, which tells its finding in its message alone, into the failure of our table. */
function refusing(is: (found: number) => string, limit: number) {
  return {
    propagateOnRejection: false,
    onReject: [
      (context: ValidationContext | null, error: GraphQLError) => {
        // A count that no number holds is only told to be above the limit.
        const found = Number(/found (\d+)\.$/.exec(error.message)?.[1] ?? limit + 1);
        context?.reportError(tooExpensive(is(found), found, limit));
      },
    ],
  };
}

function maxRootFieldsRule(limit: number): ValidationRule {
  return (context) => ({
    OperationDefinition(operation) {
      const count = countFields(operation.selectionSet, context);
      if (count > limit) context.reportError(tooExpensive(`has ${count} root fields`, count, limit));
    },
  });
}

/**
 * Counts selections before anything walks them. A few fragments that spread each other stand for more selections than
 * anybody can work through: an operation may not be larger for its fragments than it could be without any.
 */
function maxSelectionsRule(limit: number): ValidationRule {
  return (context) => {
    /** Counts by fragment; 0 while one is being counted, so that fragments that spread themselves come to an end. */
    const counts = new Map<string, number>();

    function countIn(set: SelectionSetNode | undefined): number {
      let count = 0;
      for (const selection of set?.selections ?? [])
        count +=
          1 +
          (selection.kind === Kind.FRAGMENT_SPREAD
            ? countOf(selection.name.value)
            : countIn(selection.selectionSet));
      return Math.min(count, Number.MAX_SAFE_INTEGER);
    }

    function countOf(name: string): number {
      const known = counts.get(name);
      if (known !== undefined) return known;
      counts.set(name, 0);
      const count = countIn(context.getFragment(name)?.selectionSet);
      counts.set(name, count);
      return count;
    }

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

function maxListItemsRule(limit: number): ValidationRule {
  return (context) => ({
    ListValue(node) {
      const { length } = node.values;
      if (length > limit)
        context.reportError(new GraphQLError(tooLong('A list', length, limit), { nodes: node }));
    },
  });
}

/**
 * The reason to refuse a list in the variables of an operation, before its items are looked at; null if there is none.
 * A rule refuses lists in the text.
 */
export function listRefusal(
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Readonly<Record<string, unknown>>,
  limit: number,
): GraphQLError | null {
  for (const { variable } of variableDefinitions) {
    const name = variable.name.value;
    const length = longestList(given[name]);
    if (length <= limit) continue;
    const message = tooLong(`Variable "$${name}"`, length, limit);
    return new GraphQLError(message, {
      originalError: new Failure('BAD_USER_INPUT', message, { limit }),
      extensions: { http: { status: 400 } },
    });
  }
  return null;
}

/** Items of the longest list in a value. */
function longestList(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let longest = Array.isArray(value) ? value.length : 0;
  for (const item of Object.values(value)) longest = Math.max(longest, longestList(item));
  return longest;
}

function tooLong(what: string, length: number, limit: number): string {
  return `${what} has ${length} items; this gateway takes ${limit} (MAX_LIST_ITEMS). Ask in several operations.`;
}

const knownOperationRule: ValidationRule = (context) => ({
  OperationDefinition(node) {
    if (context.getSchema().getRootType(node.operation)) return;
    const message = `This graph has no ${node.operation}s.`;
    context.reportError(new GraphQLError(message, { nodes: node }));
  },
});

/** Number of fields of a selection, with those of its fragments, each fragment once. */
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

function tooExpensive(is: string, planned: number, limit: number, setting?: string): GraphQLError {
  const named = setting === undefined ? '' : ` (${setting})`;
  const message = `The operation ${is}; this gateway takes ${limit}${named}.`;
  return new GraphQLError(message, {
    originalError: new Failure('OPERATION_TOO_EXPENSIVE', message, { planned, limit }),
  });
}
