import type { TenantCache } from '../cache/tenant-cache.ts';
import { Failure } from '../errors.ts';
import type { Answer, Call, Send } from './call.ts';
import { namesAsked } from './not-found.ts';

/** Takes note of what the service says of keys. */
interface Listener extends Pick<TenantCache, 'accept'> {
  /** @returns what the answer waits for, if anything */
  refuse(keyDigest: string, refusal: Failure): Promise<void> | undefined | void;
}

/**
 * Tells the tenant cache, and who else wants to know, what each answer says of the caller's key: whether the service
 * accepts it, and may be served what is held for it, or refuses it, when nothing of that is served any more.
 */
export function authenticated(next: Send, ...listeners: readonly Listener[]): Send {
  return (call, sending) => {
    const { keyDigest } = sending.caller;
    if (call.isPublic) return next(call, sending);
    return hearingOfKey(call, next(call, sending), {
      accept() {
        for (const listener of listeners) listener.accept(keyDigest);
      },
      // Whoever is told of the refusal may go to another gateway: it has to know of it by then.
      async refuse(failure) {
        await Promise.all(listeners.map((listener) => listener.refuse(keyDigest, failure)));
      },
    });
  };
}

/** Tells what the answer to a protected call says of the key: it is accepted, refused (401, 403), or nothing is said. */
export function hearingOfKey(
  call: Call,
  answering: Promise<Answer>,
  told: { readonly accept: () => void; readonly refuse: (failure: Failure) => Promise<void> | void },
): Promise<Answer> {
  return answering.then(
    (answer) => {
      // A 404 that doesn't name what was asked for may come from a proxy before the service, and says nothing of the key.
      if (answer.status !== 404 || namesAsked(call, answer.body)) told.accept();
      return answer;
    },
    async (error: unknown) => {
      if (error instanceof Failure) {
        if (error.code === 'UNAUTHENTICATED' || error.code === 'FORBIDDEN') await told.refuse(error);
        if (error.code === 'BAD_USER_INPUT') told.accept();
      }
      throw error;
    },
  );
}
