import { codeOf, ErrorCode, isRetryable, retryAtOf, untilRetry } from '@country-graph/client';
import { useEffect, useState } from 'react';

/** The failure in words for people; if asking again helps, counts down to it and does so. */
export function FailureNote({ failure, onRetry }: { failure: unknown; onRetry: () => void }) {
  const [leftSeconds, setLeftSeconds] = useState(() => secondsTo(failure));
  useEffect(() => {
    if (!isRetryable(failure)) return;
    const leaving = new AbortController();
    const { signal } = leaving;
    const ticking = setInterval(() => setLeftSeconds(secondsTo(failure)), 250);
    untilRetry(failure, { signal }).then(onRetry, () => {});
    return () => {
      leaving.abort();
      clearInterval(ticking);
    };
  }, [failure, onRetry]);
  return (
    <p role="alert">
      {wordsFor(codeOf(failure))}
      {isRetryable(failure) && leftSeconds > 0 && (
        <span className="countdown">{` Asking again in ${leftSeconds} s.`}</span>
      )}
    </p>
  );
}

function secondsTo(failure: unknown): number {
  const at = retryAtOf(failure);
  return at === null ? 0 : Math.max(0, Math.ceil((at.getTime() - Date.now()) / 1000));
}

/** Every code has its words: a new one is an error of the compiler here. */
function wordsFor(code: ErrorCode | undefined): string {
  switch (code) {
    case undefined:
      return 'The gateway can’t be reached.';
    case ErrorCode.RATE_LIMITED:
      return 'This minute’s requests are spent.';
    case ErrorCode.KEY_BUDGET_SPENT:
      return 'The requests of this page are spent.';
    case ErrorCode.MONTHLY_QUOTA_EXCEEDED:
      return 'This month’s requests are spent.';
    case ErrorCode.UNAUTHENTICATED:
    case ErrorCode.FORBIDDEN:
    case ErrorCode.KEY_EXPIRED:
    case ErrorCode.ORIGIN_NOT_ALLOWED:
      return 'The key is not accepted.';
    case ErrorCode.UPSTREAM_UNAVAILABLE:
    case ErrorCode.UPSTREAM_TIMEOUT:
    case ErrorCode.OVERLOADED:
    case ErrorCode.OPERATION_TIMEOUT:
      return 'The service is slow or away.';
    case ErrorCode.UPSTREAM_INVALID_RESPONSE:
    case ErrorCode.UPSTREAM_INCOMPLETE:
      return 'The service’s answer can’t be used.';
    case ErrorCode.UPSTREAM_ROUTE_ABSENT:
      return 'The service has no such records.';
    case ErrorCode.NOT_HELD:
      return 'This has not been fetched yet.';
    case ErrorCode.NOT_RECORDED:
      return 'This was not recorded then.';
    case ErrorCode.BAD_USER_INPUT:
    case ErrorCode.DOCUMENT_NOT_ALLOWED:
    case ErrorCode.OPERATION_TOO_EXPENSIVE:
    case ErrorCode.GRAPHQL_PARSE_FAILED:
    case ErrorCode.GRAPHQL_VALIDATION_FAILED:
    case ErrorCode.OPERATION_RESOLUTION_FAILURE:
    case ErrorCode.BAD_REQUEST:
    case ErrorCode.PERSISTED_QUERY_NOT_FOUND:
    case ErrorCode.PERSISTED_QUERY_NOT_SUPPORTED:
      return 'This page asks for something that the gateway doesn’t take.';
    case ErrorCode.INTERNAL_SERVER_ERROR:
      return 'The gateway failed.';
    default:
      return unheardOf(code);
  }
}

function unheardOf(code: never): string {
  return `The gateway answered ${code}.`;
}
