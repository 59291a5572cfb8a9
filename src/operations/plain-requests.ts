import { LRUCache } from 'lru-cache';
import type { Caller } from '../upstream/call.ts';
import { UNPROVEN } from './callers.ts';
import { isExplained } from './operation-run.ts';
import type { PersistedTexts } from './persisted.ts';
import { type GatewayRequest, type OperationParams, paramsIn } from './requests.ts';

/** A request that needs nobody to interpret it, and the type that its client takes answers in. */
export interface PlainRequest {
  readonly params: OperationParams;
  readonly contentType: string;
}

export interface PlainRequests {
  /** What a request asks for, where Apollo has nothing to say about it; else null. */
  read(request: GatewayRequest, caller: Caller): PlainRequest | null;
  /** Apollo has answered a client that accepts this in a type of content. */
  learn(accepts: string, contentType: string): void;
}

/** Kinds of `Accept` headers of which it is remembered what Apollo answers them with. */
const MAX_ACCEPTS = 100;
const MAX_ACCEPT_CHARACTERS = 300;

export function createPlainRequests(persisted: PersistedTexts): PlainRequests {
  const contentTypes = new LRUCache<string, string>({ max: MAX_ACCEPTS });
  return {
    read(request, { flow }) {
      const contentType = contentTypes.get(request.headers.accept ?? '');
      if (contentType === undefined || isExplained(request)) return null;
      const params = paramsIn(request, persisted, flow !== UNPROVEN);
      return params && { params, contentType };
    },
    learn(accepts, contentType) {
      if (accepts.length <= MAX_ACCEPT_CHARACTERS) contentTypes.set(accepts, contentType);
    },
  };
}
