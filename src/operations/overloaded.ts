import { FAILURES } from '../errors.ts';
import { openBill } from '../upstream/call.ts';
import type { GatewayResponse } from './responses.ts';

/** Refused clients are told different times to come back, so that they don't all come at once. */
const RETRY_AFTER_SECONDS = [1, 2, 3] as const;

/** Answers to operations that were refused unseen, made once, since refusing has to cost next to nothing. */
export function createOverloaded(maxOperations: number): (accepts: string) => GatewayResponse {
  const message = `The gateway is overloaded: it runs up to ${maxOperations} operations at once (MAX_CONCURRENT_OPERATIONS), and too many are waiting. Nothing was run; ask again a little later.`;
  const answersIn = (type: string): readonly GatewayResponse[] =>
    RETRY_AFTER_SECONDS.map((retryAfterSeconds) => ({
      status: 503,
      headers: new Map([
        ['content-type', `application/${type}; charset=utf-8`],
        ['cache-control', 'no-store'],
        ['vary', 'Authorization'],
        ['retry-after', String(retryAfterSeconds)],
      ]),
      body: JSON.stringify({
        errors: [{ message, extensions: { code: 'OVERLOADED', ...FAILURES.OVERLOADED, retryAfterSeconds } }],
        extensions: { upstream: openBill() },
      }),
    }));
  const answers = { modern: answersIn('graphql-response+json'), plain: answersIn('json') };
  let count = 0;
  return (accepts) => {
    count += 1;
    const kind = accepts.includes('graphql-response') ? 'modern' : 'plain';
    return answers[kind][count % RETRY_AFTER_SECONDS.length] as GatewayResponse;
  };
}
