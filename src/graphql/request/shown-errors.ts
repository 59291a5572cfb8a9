import type { GraphQLFormattedError } from 'graphql';
import { excerpt } from '../../shared/errors.ts';

const MAX_ERRORS = 1_000;

/**
 * Bounds the number of errors, and the length of foreign text in them. If some are left out, a last one counts them
 * by code. Each names the request, so that it is found in the log.
 */
export function shownErrors(
  errors: readonly GraphQLFormattedError[],
  requestId?: string,
): readonly GraphQLFormattedError[] {
  const shown = errors.slice(0, MAX_ERRORS).map(shortened);
  const rest = errors.slice(MAX_ERRORS);
  if (rest.length > 0) shown.push(summaryOf(rest));
  if (requestId === undefined) return shown;
  return shown.map((error) => ({ ...error, extensions: { ...error.extensions, requestId } }));
}

function shortened(error: GraphQLFormattedError): GraphQLFormattedError {
  const message = excerpt(error.message);
  const { detail } = error.extensions ?? {};
  if (typeof detail !== 'string') return { ...error, message };
  return { ...error, message, extensions: { ...error.extensions, detail: excerpt(detail) } };
}

/** Under the code of the first, so that readers of codes find a known one. */
function summaryOf(errors: readonly GraphQLFormattedError[]): GraphQLFormattedError {
  const [first] = errors;
  return {
    message: `There are ${errors.length} errors more than an answer lists.`,
    extensions: {
      code: first?.extensions?.code,
      retryable: first?.extensions?.retryable ?? false,
      leftOut: countsOf(errors.map(({ extensions }) => String(extensions?.code))),
    },
  };
}

export function countsOf(codes: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}
