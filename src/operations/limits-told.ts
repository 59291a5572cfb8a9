import { mapValue } from '../async/promise-or-value.ts';
import type { Ledger } from '../quota/ledger.ts';
import type { Handle } from './pipeline.ts';

/**
 * Adds the `RateLimit` and `RateLimit-Policy` headers of the IETF's draft to every answer: the calls left of the key's
 * plan, as far as the service has named it.
 */
export function limitsTold(next: Handle, { limits }: Pick<Ledger, 'limits'>): Handle {
  return (incoming) =>
    mapValue(next(incoming), (response) => {
      const known = limits(incoming.caller.keyDigest);
      if (known.length === 0) return response;
      const left = known.map(({ name, left, resetSeconds }) => `"${name}";r=${left};t=${resetSeconds}`);
      const policy = known.map(({ name, most, windowSeconds }) => `"${name}";q=${most};w=${windowSeconds}`);
      const headers = new Map(response.headers);
      headers.set('ratelimit', left.join(', ')).set('ratelimit-policy', policy.join(', '));
      return { ...response, headers };
    });
}
