import type { ProvenKeys } from '../cache/proven.ts';
import type { Caller } from '../upstream/call.ts';

/** The request headers that name the caller and the kind of answer. */
export interface CallerHeaders {
  readonly authorization?: string | null | undefined;
  readonly accept?: string | undefined;
}

/** The flow of all callers whose keys the service has not accepted lately: they count as one. */
export const UNPROVEN = 'unproven';

/** Tells who asks. Each request has a caller of its own, with a number that rises from request to request. */
export function createCallers(
  digest: (authorization: string) => string,
  proven: Pick<ProvenKeys, 'has'>,
): (headers: CallerHeaders) => Caller {
  let since = 0;
  return ({ authorization = null }) => {
    const keyDigest = authorization === null ? 'none' : digest(authorization);
    since += 1;
    return { authorization, keyDigest, flow: proven.has(keyDigest) ? keyDigest : UNPROVEN, since, slices: 0 };
  };
}

/** Marks the event of an operation if it came by a key that the service had accepted lately. */
export function provenBy({ flow }: Pick<Caller, 'flow'>): { readonly isProven?: true } {
  return flow === UNPROVEN ? {} : { isProven: true };
}
