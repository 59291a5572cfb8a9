import { GraphQLError, type GraphQLErrorOptions } from 'graphql';
import { shownErrors } from '../../graphql/request/shown-errors.ts';
import { formatError } from '../../graphql/schema/errors.ts';
import type { Failure } from '../../plugin/index.ts';

/** Formats errors for clients, as the GraphQLError objects that the transport libraries expect. */
export function liveErrors(
  errors: readonly GraphQLError[],
  requestId: string,
  onError: (error: unknown, where: string, requestId?: string) => void,
): readonly GraphQLError[] {
  const formatted = errors.map((error) =>
    formatError(error.toJSON(), error, (error) => onError(error, 'subscription', requestId)),
  );
  return shownErrors(formatted, requestId).map(({ message, path, extensions }, i) =>
    reworded(errors[i], message, { path: path ?? null, extensions: extensions ?? null }),
  );
}

function reworded(
  error: GraphQLError | undefined,
  message: string,
  options: GraphQLErrorOptions,
): GraphQLError {
  const { nodes = null, source = null, positions = null } = error ?? {};
  return new GraphQLError(message, { nodes, source, positions, ...options });
}

export function asGraphql(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  const originalError = error instanceof Error ? error : new Error(String(error));
  return new GraphQLError(originalError.message, { originalError });
}

export const refusedAs = ({ code, message }: Failure) => refused(code, message);

export function refused(code: string, message: string): { readonly errors: readonly GraphQLError[] } {
  return { errors: [new GraphQLError(message, { extensions: { code } })] };
}
