import type { PromiseOrValue } from '../../shared/async/turns.ts';
import { Failure, type FailureCode } from '../../shared/errors.ts';
import { isModern, refusalTypeFor } from './accept.ts';
import { type CallerOf, type Exchanged, exchangedSeal, UNPROVEN } from './callers.ts';
import { createAdmitted, type KeyTerms } from './key-terms.ts';
import { ChangedRequest, type GatewayRequest } from './requests.ts';
import { type GatewayResponse, refusalBody } from './responses.ts';
import type { HandleRequest } from './stages.ts';

/** Keys of a plugin, each of which stands for one of the service's. */
export interface KeyHolder {
  /** By its form: there need not be such a key. Whatever is owned goes only to `exchange`. */
  owns(authorization: string): boolean;
  /**
   * Asked for each request, so it must be fast.
   * @throws Failure if the key doesn't allow the request, or there is no such key: nothing runs then
   */
  exchange(request: GatewayRequest): PromiseOrValue<KeyTerms>;
  /**
   * Names the holder: streams and budgets are counted by holder; if left out, by the service's key.
   * @throws Failure if there is no such key
   */
  holderOf?(authorization: string): PromiseOrValue<string>;
  /**
   * Exchanges a key by its name, for what the operator lets anybody ask.
   * @throws Failure if there is no such key, or it doesn't allow the request
   */
  named?(name: string, request: GatewayRequest): Promise<NamedTerms>;
}

interface NamedTerms {
  /** Sites whose pages may use the key; empty for any. */
  readonly origins: readonly string[];
  readonly terms: KeyTerms;
}

export interface NamedEntry {
  /** Sites whose pages may use the key; empty for any. */
  readonly origins: readonly string[];
  /** May be run several times. */
  readonly request: GatewayRequest;
}

export const holderOfName = (name: string) => `key ${name}`;

/** Of a refusal of the whole request; clients that take any status but 200 for a network error get 200. */
const STATUSES: Partial<Record<FailureCode, number>> = {
  UNAUTHENTICATED: 401,
  KEY_EXPIRED: 401,
  ORIGIN_NOT_ALLOWED: 403,
  DOCUMENT_NOT_ALLOWED: 403,
  RATE_LIMITED: 429,
  OVERLOADED: 503,
  UPSTREAM_UNAVAILABLE: 503,
};

/** The one place where keys of plugins are exchanged, for all ways into the gateway. */
export function openKeyDoors(
  holders: readonly KeyHolder[],
  parts: Parameters<typeof createAdmitted>[0] & { readonly callerOf: CallerOf },
) {
  const { callerOf } = parts;
  const admitted = createAdmitted(parts);
  const ownerOf = (authorization: string | undefined) =>
    authorization === undefined ? undefined : holders.find((holder) => holder.owns(authorization));

  const exchanged = async (owner: KeyHolder, request: GatewayRequest): Promise<Exchanged> =>
    admitted(await owner.exchange(request), request);

  const inNameOf = (key: Exchanged, request: GatewayRequest) =>
    new ChangedRequest(request, { exchanged: exchangedSeal.seal(key) });

  return {
    /** True if the caller isn't known before the key is exchanged. */
    owns: (authorization: string | undefined) => ownerOf(authorization) !== undefined,

    /** Answers requests by a plugin's key in the name of the key behind it. */
    exchanging(next: HandleRequest): HandleRequest {
      if (holders.length === 0) return next;
      const answer = async (owner: KeyHolder, request: GatewayRequest) => {
        try {
          return await next(inNameOf(await exchanged(owner, request), request));
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
          return refused(error, request);
        }
      };
      return (request) => {
        const owner = ownerOf(request.headers.authorization);
        return owner === undefined ? next(request) : answer(owner, request);
      };
    },

    /**
     * For long-lived requests, in any protocol.
     * @throws Failure if the key's terms don't allow it, or there is no such key
     */
    async enter(request: GatewayRequest) {
      const owner = ownerOf(request.headers.authorization);
      const entered = owner && (await exchanged(owner, request));
      return { caller: callerOf(request.headers, entered, request), watch: entered?.watch };
    },

    /**
     * Streams, and budgets of tools, belong to holders.
     * @throws Failure for a key that no longer works
     */
    async holderOf(authorization: string | undefined) {
      const name = authorization && (await ownerOf(authorization)?.holderOf?.(authorization));
      if (name !== undefined && name !== '')
        return { name: holderOfName(name), keyName: name, isUnproven: false, isIssued: true };
      const { tenant, flow } = callerOf({ authorization });
      return { name: tenant.digest, keyName: null, isUnproven: flow === UNPROVEN, isIssued: false };
    },

    /**
     * Makes a request in the name of a key, for what the operator lets anybody ask.
     * @throws Failure if there is no such key, or its terms don't allow it
     */
    async named(name: string, request: GatewayRequest): Promise<NamedEntry> {
      for (const holder of holders) {
        if (holder.named === undefined) continue;
        const { origins, terms } = await holder.named(name, request);
        return { origins, request: inNameOf(await admitted(terms, request), request) };
      }
      throw new Failure('KEY_EXPIRED', 'This gateway has no keys with names.');
    },
  };
}

function refused({ code, message, fields, retryable }: Failure, request: GatewayRequest): GatewayResponse {
  const { accept = '' } = request.headers;
  const status = isModern(accept) ? (STATUSES[code] ?? 400) : 200;
  const headers = new Map([
    ['content-type', refusalTypeFor(accept)],
    ['cache-control', 'no-store'],
    ['vary', 'Authorization, Origin'],
  ]);
  if (status === 401) headers.set('www-authenticate', 'Bearer');
  if (fields.retryAfterSeconds !== undefined) headers.set('retry-after', String(fields.retryAfterSeconds));
  const extensions = { retryable, ...fields, requestId: request.requestId };
  return {
    status,
    headers,
    body: refusalBody(code, message, extensions),
  };
}
