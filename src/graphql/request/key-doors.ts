import { openBill } from '../../service/bill.ts';
import type { PromiseOrValue } from '../../shared/async/turns.ts';
import { errorBody, Failure, type FailureCode } from '../../shared/errors.ts';
import { isModern, refusalTypeFor } from './accept.ts';
import { type CallerOf, type Exchanged, UNPROVEN } from './callers.ts';
import { ChangedRequest, type GatewayRequest } from './requests.ts';
import type { GatewayResponse } from './responses.ts';
import type { HandleRequest } from './stages.ts';

/** Keys that are none of the service's, each of which stands for one. */
export interface KeyHolder {
  /**
   * True if a header bears a key of these, or of their form. It needn't know if there is such a key: whatever it owns
   * goes nowhere but to `exchange`.
   */
  owns(authorization: string): boolean;
  /**
   * Says by which key of the service a request is made, once the terms of its own key allow it. It may be asked for each
   * request, and so shouldn't take long.
   * @throws Failure if they don't, or there is no such key: nothing of the request runs then
   */
  exchange(request: GatewayRequest): PromiseOrValue<Exchanged>;
  /**
   * Names the holder of a key, whose streams and budgets are counted together; that of the service's key if it is left out.
   * @throws Failure if there is no such key
   */
  holderOf?(authorization: string): PromiseOrValue<string>;
  /**
   * Makes a request in the name of a key, for what the operator lets anybody ask.
   * @throws Failure if there is no such key, or its terms don't allow it
   */
  named?(name: string, request: GatewayRequest): Promise<NamedEntry>;
}

/** A way in by the name of a key. */
export interface NamedEntry {
  /** Sites whose pages may use the key; none in the list for any. */
  readonly origins: readonly string[];
  /** The request in the name of the key, to run once or several times. */
  readonly request: GatewayRequest;
}

/** Names the holder of the keys of a name. */
export const holderOfName = (name: string) => `key ${name}`;

/** Status of a refusal of the whole request; 200 for clients that take any other for an error of the network. */
const STATUSES: Partial<Record<FailureCode, number>> = {
  UNAUTHENTICATED: 401,
  KEY_EXPIRED: 401,
  ORIGIN_NOT_ALLOWED: 403,
  DOCUMENT_NOT_ALLOWED: 403,
  RATE_LIMITED: 429,
  OVERLOADED: 503,
  UPSTREAM_UNAVAILABLE: 503,
};

/** Opens the one place where keys of plugins are exchanged, for all ways into the gateway. */
export function openKeyDoors(holders: readonly KeyHolder[], callerOf: CallerOf) {
  const ownerOf = (authorization: string | undefined) =>
    authorization === undefined ? undefined : holders.find((holder) => holder.owns(authorization));

  async function exchanged(owner: KeyHolder, request: GatewayRequest): Promise<Exchanged> {
    const given = await owner.exchange(request);
    // A tool's budget counts whoever pays.
    return given.budget === undefined ? { ...given, budget: request.exchanged?.budget } : given;
  }

  return {
    /** True if a key has to be looked at before anything is known of its caller. */
    owns: (authorization: string | undefined) => ownerOf(authorization) !== undefined,

    /** Wraps the handling of requests: those by a key of a plugin are answered in the name of the one that it stands for. */
    exchanging(next: HandleRequest): HandleRequest {
      if (holders.length === 0) return next;
      const answer = async (owner: KeyHolder, request: GatewayRequest) => {
        try {
          return await next(new ChangedRequest(request, { exchanged: await exchanged(owner, request) }));
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
     * Lets in whoever asks for what takes long, in whichever way, once the terms of the key allow it.
     * @throws Failure if they don't, or there is no such key
     */
    async enter(request: GatewayRequest) {
      const owner = ownerOf(request.headers.authorization);
      const entered = owner && (await exchanged(owner, request));
      return { caller: callerOf(request.headers, entered), watch: entered?.watch };
    },

    /**
     * Names the holder of a key, in whichever way a header has it: to holders belong streams, and budgets of tools.
     * @throws Failure for a key that works no more
     */
    async holderOf(authorization: string | undefined) {
      const name = authorization && (await ownerOf(authorization)?.holderOf?.(authorization));
      if (name !== undefined && name !== '') return { name, isUnproven: false, isIssued: true };
      const { tenant, flow } = callerOf({ authorization });
      return { name: tenant.digest, isUnproven: flow === UNPROVEN, isIssued: false };
    },

    /**
     * Makes a request in the name of a key, for what the operator lets anybody ask.
     * @throws Failure if there is no such key, or its terms don't allow it
     */
    async named(name: string, request: GatewayRequest): Promise<NamedEntry> {
      for (const holder of holders) if (holder.named) return holder.named(name, request);
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
    body: errorBody(code, message, extensions, { extensions: { upstream: openBill() } }),
  };
}
