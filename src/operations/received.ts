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
  /** Names that routers know ours by; null where they are ours. */
  readonly names: PrefixedNames | null;
}

/** The stages that see requests before anything is known of their operations: how many each has, and in what form it is answered. */
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
