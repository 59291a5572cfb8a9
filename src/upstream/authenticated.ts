import type { TenantCache } from '../cache/tenant-cache.ts';
import { Failure } from '../errors.ts';
import type { Send } from './call.ts';

/** Hears what the service says of keys. */
type Witness = Pick<TenantCache, 'accept' | 'refuse'>;

/**
 * Tells the tenant cache, and who else wants to know, what each answer says of the caller's key: whether the service accepts it, and may be served what is
 * held for it, or refuses it (401, 403), when nothing of that is served any more.
 */
export function authenticated(next: Send, ...witnesses: readonly Witness[]): Send {
  const accept = (keyDigest: string) => {
    for (const witness of witnesses) witness.accept(keyDigest);
  };
  return async (call, sending) => {
    const { keyDigest } = sending.caller;
    if (call.isPublic) return next(call, sending);
    try {
      const answer = await next(call, sending);
      // A 404 without words of the service's own may come from whatever stands before it, and says nothing of the key.
      if (answer.status !== 404 || answer.body !== undefined) accept(keyDigest);
      return answer;
    } catch (error) {
      if (error instanceof Failure) {
        if (error.code === 'UNAUTHENTICATED' || error.code === 'FORBIDDEN')
          for (const witness of witnesses) witness.refuse(keyDigest, error);
        if (error.code === 'BAD_USER_INPUT') accept(keyDigest);
      }
      throw error;
    }
  };
}
