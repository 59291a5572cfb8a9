import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import type { Failure } from '../../shared/errors.ts';
import { shownErrors } from '../request/shown-errors.ts';
import { formatError } from '../schema/errors.ts';

/** Formats errors for clients. */
export function liveErrors(
  errors: readonly GraphQLError[],
  requestId: string,
  onError: (error: unknown, where: string, requestId?: string) => void,
): readonly GraphQLFormattedError[] {
  const formatted = errors.map((error) =>
    formatError(error.toJSON(), error, (error) => onError(error, 'subscription', requestId)),
  );
  return shownErrors(formatted, requestId);
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
