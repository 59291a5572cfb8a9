import { GraphQLError, type OperationDefinitionNode, type ValidationRule } from 'graphql';
import { Failure } from '../../shared/errors.ts';
import { errorOf } from '../schema/errors.ts';

export function maxListItemsRule(limit: number): ValidationRule {
  return (context) => ({
    ListValue(node) {
      const { length } = node.values;
      if (length > limit)
        context.reportError(new GraphQLError(tooLong('A list', length, limit), { nodes: node }));
    },
    StringValue(node, key) {
      const { length } = node.value;
      if (length > MAX_LENGTH && key !== 'description')
        context.reportError(new GraphQLError(tooLongText('A text', length), { nodes: node }));
    },
  });
}

/** The reason to refuse a list or a text in the variables; null if there is none. A rule refuses those in the document. */
export function inputRefusal(
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Readonly<Record<string, unknown>>,
  limit: number,
): GraphQLError | null {
  for (const { variable } of variableDefinitions) {
    const name = variable.name.value;
    const { items, characters } = longestIn(given[name], { items: 0, characters: 0 });
    const what = `Variable "$${name}"`;
    if (items > limit)
      return errorOf(new Failure('BAD_USER_INPUT', tooLong(what, items, limit), { limit }), 400);
    if (characters > MAX_LENGTH)
      return errorOf(
        new Failure('BAD_USER_INPUT', tooLongText(what, characters), { limit: MAX_LENGTH }),
        400,
      );
  }
  return null;
}

/** Characters of one text that an operation is given: no name, identifier or cursor is as long. */
const MAX_LENGTH = 4_096;

/** Measures the longest list and the longest text in a value. */
function longestIn<Longest extends { items: number; characters: number }>(
  value: unknown,
  longest: Longest,
): Longest {
  if (typeof value === 'string') longest.characters = Math.max(longest.characters, value.length);
  if (typeof value !== 'object' || value === null) return longest;
  if (Array.isArray(value)) longest.items = Math.max(longest.items, value.length);
  for (const item of Object.values(value)) longestIn(item, longest);
  return longest;
}

function tooLong(what: string, length: number, limit: number): string {
  return `${what} has ${length} items; this gateway takes ${limit} (MAX_LIST_ITEMS). Ask in several operations.`;
}

function tooLongText(what: string, length: number): string {
  return `${what} has a text of ${length} characters; this gateway takes ${MAX_LENGTH}.`;
}
