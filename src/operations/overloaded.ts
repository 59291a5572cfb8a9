import { FAILURES } from '../errors.ts';
import { openBill } from '../upstream/call.ts';
import { type GatewayResponse, isModern } from './responses.ts';

/** Seconds after which refused clients may come back: they differ, so that the clients don't all come at once. */
const RETRY_AFTER_SECONDS = [1, 2, 3] as const;

/** Placeholder for the identifier of the request; no text of ours has it. */
const REQUEST_ID = '<request>';

/** An answer without the identifier of the request, which goes between both parts of the body. */
interface OverloadedAnswer {
  readonly headers: readonly (readonly [string, string])[];
  readonly body: readonly [string, string];
}

/**
 * Makes the answers to operations that are refused unseen. They are made once, since refusing has to cost next to
 * nothing.
 */
export function createOverloaded(
  maxOperations: number,
): (accepts: string, requestId?: string) => GatewayResponse {
  const message = `The gateway is overloaded: it runs up to ${maxOperations} operations at once (MAX_CONCURRENT_OPERATIONS), and too many are waiting. Nothing was run; ask again a little later.`;
  const answersIn = (type: string): readonly OverloadedAnswer[] =>
    RETRY_AFTER_SECONDS.map((retryAfterSeconds) => {
      const extensions = {
        code: 'OVERLOADED',
        ...FAILURES.OVERLOADED,
        retryAfterSeconds,
        requestId: REQUEST_ID,
      };
      const body = JSON.stringify({
        errors: [{ message, extensions }],
        extensions: { upstream: openBill() },
      });
      const [before = '', after = ''] = body.split(REQUEST_ID);
      return {
        headers: [
          ['content-type', `application/${type}; charset=utf-8`],
          ['cache-control', 'no-store'],
          ['vary', 'Authorization'],
          ['retry-after', String(retryAfterSeconds)],
        ],
        body: [before, after],
      };
    });
  const answers = { modern: answersIn('graphql-response+json'), plain: answersIn('json') };
  let count = 0;
  return (accepts, requestId = 'none') => {
    count += 1;
    const kind = isModern(accepts) ? 'modern' : 'plain';
    const { headers, body } = answers[kind][count % RETRY_AFTER_SECONDS.length] as OverloadedAnswer;
    return { status: 503, headers: new Map(headers), body: body.join(requestId) };
  };
}
