import { ApolloServerErrorCode } from '@apollo/server/errors';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { FAILURES, Failure, type FailureCode } from '../../shared/errors.ts';

/** In place of any internal error. */
const FIXED_SENTENCE = 'The gateway met an internal error. It has been logged.';

/** For logs and metrics; no client is left to see it. */
const CLIENT_LEFT = 'CLIENT_CLOSED_REQUEST';

/**
 * The one place that makes the errors callers see. A Failure keeps its words and fields, a caller's error its code.
 * Any other error becomes INTERNAL_SERVER_ERROR with a fixed sentence, and is reported whole.
 */
export function formatError(
  formatted: GraphQLFormattedError,
  error: unknown,
  onError: (error: unknown) => void,
): GraphQLFormattedError {
  const cause = originalOf(error);
  if (cause instanceof Failure) {
    const fields = Object.fromEntries(
      Object.entries(cause.fields).filter(([, value]) => value !== undefined),
    );
    return withExtensions(formatted, cause.message, {
      code: cause.code,
      retryable: cause.retryable,
      ...fields,
    });
  }
  const code = isCallerError(cause)
    ? ApolloServerErrorCode.BAD_REQUEST
    : isWrongArgument(cause)
      ? ApolloServerErrorCode.BAD_USER_INPUT
      : formatted.extensions?.code;
  if (typeof code === 'string' && code !== ApolloServerErrorCode.INTERNAL_SERVER_ERROR) {
    const retryable = FAILURES[code as FailureCode]?.retryable ?? false;
    return withExtensions(formatted, formatted.message, { ...formatted.extensions, code, retryable });
  }
  // The operation was ended because its client has left.
  if (cause instanceof Error && cause.name === 'AbortError') {
    return withExtensions(formatted, 'The client has left.', { code: CLIENT_LEFT, retryable: false });
  }
  onError(cause);
  return withExtensions(formatted, FIXED_SENTENCE, {
    code: ApolloServerErrorCode.INTERNAL_SERVER_ERROR,
    retryable: false,
  });
}

/** Some refusals of Apollo Server have a status instead of a code. */
function isCallerError(cause: unknown): boolean {
  if (!(cause instanceof GraphQLError) || cause.extensions.code !== undefined) return false;
  const { status } = (cause.extensions.http ?? {}) as { readonly status?: number };
  return status !== undefined && status >= 400 && status < 500;
}

/** Null in a non-null place: the executor says so in the message alone. */
function isWrongArgument(cause: unknown): boolean {
  return (
    cause instanceof GraphQLError &&
    cause.extensions.code === undefined &&
    /^Argument "\w+" (?:of|has) /.test(cause.message)
  );
}

function withExtensions(
  { locations, path }: GraphQLFormattedError,
  message: string,
  extensions: Record<string, unknown>,
): GraphQLFormattedError {
  const { stacktrace: _, ...shown } = extensions;
  return {
    message,
    ...(locations === undefined ? {} : { locations }),
    ...(path === undefined ? {} : { path }),
    extensions: shown,
  };
}

/**
 * For failures of a whole operation.
 * @param status of an answer to an operation that didn't run
 */
export function errorOf(failure: Failure, status?: 400): GraphQLError {
  const extensions = status === undefined ? {} : { http: { status } };
  return new GraphQLError(failure.message, { originalError: failure, extensions });
}

export function originalOf(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError !== undefined
    ? originalOf(error.originalError)
    : error;
}
