import { mapValue } from '../async/promise-or-value.ts';
import type { Ledger } from '../quota/ledger.ts';
import type { Handle } from './pipeline.ts';

/**
 * Has every answer tell what is left of the key's plan, as far as the service has named it: `RateLimit` and
 * `RateLimit-Policy` of the IETF's draft, counted in calls to the service.
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
