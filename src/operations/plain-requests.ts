import { LRUCache } from 'lru-cache';
import type { Caller } from '../upstream/call.ts';
import { UNPROVEN } from './callers.ts';
import { isExplained } from './operation-run.ts';
import type { PersistedTexts } from './persisted.ts';
import { type GatewayRequest, type OperationParams, paramsIn } from './requests.ts';

/** A request that nobody needs to interpret, and the type that its client takes answers in. */
export interface PlainRequest {
  readonly params: OperationParams;
  readonly contentType: string;
}

export interface PlainRequests {
  /** Reads the operation that a request asks for; null if Apollo has to look at it. */
  read(request: GatewayRequest, caller: Caller): PlainRequest | null;
  /** Learns the type of content that Apollo answers an `Accept` header with. */
  learn(accepts: string, contentType: string): void;
}

/** Kinds of `Accept` headers whose type of content is remembered. */
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
