import type { PrefixedNames } from '../graph/prefixed-names.ts';
import type { Caller } from '../upstream/call.ts';
import { type BatchedParts, batched, type HandleRequest } from './batched.ts';
import type { CallerHeaders } from './callers.ts';
import { deliveryOf, incremental } from './incremental.ts';
import type { Handle } from './pipeline.ts';
import type { PlainRequests } from './plain-requests.ts';
import { prefixed } from './prefixed.ts';
import { type TabledParts, tabled } from './tabled.ts';

export interface ReceivedParts extends BatchedParts, Omit<TabledParts, 'jobOf'> {
  readonly callerOf: (headers: CallerHeaders) => Caller;
  readonly plainRequests: PlainRequests;
  /** The names that routers have for ours; null if they are the same. */
  readonly names: PrefixedNames | null;
}

/**
 * Joins the stages that see requests before anything is known of their operations: they tell the number of operations
 * in each, and the form of its answer.
 */
export function received(handle: Handle, parts: ReceivedParts): HandleRequest {
  const { callerOf, plainRequests, persisted, names, maxTokens } = parts;
  const one: HandleRequest = (request) => {
    const caller = callerOf(request.headers);
    const plain = plainRequests.read(request, caller);
    return handle({ request, caller, plain, delivery: deliveryOf(request) });
  };
  const each = batched(names === null ? one : prefixed(one, { names, maxTokens }), parts);
  return tabled(incremental(each, persisted), { ...parts, jobOf: callerOf });
}
