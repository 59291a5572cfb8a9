import type { PromiseOrValue } from '../../shared/async/promises.ts';
import { Failure } from '../../shared/errors.ts';
import { type CallerOf, type Exchanged, exchangedSeal, UNPROVEN } from './callers.ts';
import { createAdmitted, type KeyTerms } from './key-terms.ts';
import { refusalOf } from './refusals.ts';
import { ChangedRequest, type GatewayRequest } from './requests.ts';
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

/** The one place where keys of plugins are exchanged, for all ways into the gateway. */
export function openKeyDoors(
  holders: readonly KeyHolder[],
  parts: Parameters<typeof createAdmitted>[0] & { readonly callerOf: CallerOf; readonly now: () => number },
) {
  const { callerOf, now } = parts;
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
          return refusalOf(error, request, now());
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
