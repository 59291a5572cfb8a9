import type { GraphQLFormattedError } from 'graphql';
import { excerpt } from '../errors.ts';

/** Errors that one answer lists. */
const MAX_ERRORS = 1_000;

/**
 * Errors as far as an answer tells them: not all of very many, and not all of a very long text that somebody else chose.
 * Where some are left out, a last one says how many, by code. Each names the request, so that it is found in the log.
 */
export function toldErrors(
  errors: readonly GraphQLFormattedError[],
  requestId?: string,
): readonly GraphQLFormattedError[] {
  const told = errors.slice(0, MAX_ERRORS).map(shortened);
  const others = errors.slice(MAX_ERRORS);
  if (others.length > 0) told.push(summaryOf(others));
  if (requestId === undefined) return told;
  return told.map((error) => ({ ...error, extensions: { ...error.extensions, requestId } }));
}

function shortened(error: GraphQLFormattedError): GraphQLFormattedError {
  const message = excerpt(error.message);
  const { detail } = error.extensions ?? {};
  if (typeof detail !== 'string') return { ...error, message };
  return { ...error, message, extensions: { ...error.extensions, detail: excerpt(detail) } };
}

/** Has the code of the first of them, so that whoever looks at codes finds one that is known. */
function summaryOf(others: readonly GraphQLFormattedError[]): GraphQLFormattedError {
  const [first] = others;
  return {
    message: `There are ${others.length} errors more than an answer lists.`,
    extensions: {
      code: first?.extensions?.code,
      retryable: first?.extensions?.retryable ?? false,
      leftOut: countsOf(others.map(({ extensions }) => String(extensions?.code))),
    },
  };
}

/** How often each code is among them. */
export function countsOf(codes: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}
