import type { TenantCache } from '../cache/tenant-cache.ts';
import { Failure } from '../errors.ts';
import type { Answer, Call, Send } from './call.ts';
import { namesAsked } from './not-found.ts';

/** Hears the service's verdicts on keys. */
interface Listener extends Pick<TenantCache, 'accept'> {
  /** @returns a promise that the answer waits for, if any */
  refuse(keyDigest: string, refusal: Failure): Promise<void> | undefined | void;
}

/**
 * Tells the tenant cache, and the other listeners, the verdict of each answer on the caller's key. If the service
 * accepts the key, it may be served its held entries. If the service refuses it, none of them is served any more.
 */
export function authenticated(next: Send, ...listeners: readonly Listener[]): Send {
  return (call, sending) => {
    const { keyDigest } = sending.caller;
    if (call.isPublic) return next(call, sending);
    return hearingOfKey(call, next(call, sending), {
      accept() {
        for (const listener of listeners) listener.accept(keyDigest);
      },
      // A client that is told of the refusal may go to another gateway, which has to know of it by then.
      async refuse(failure) {
        await Promise.all(listeners.map((listener) => listener.refuse(keyDigest, failure)));
      },
    });
  };
}

/**
 * Tells the verdict on the key in the answer to a protected call: the key is accepted, refused (401, 403), or nothing
 * is said.
 */
export function hearingOfKey(
  call: Call,
  answering: Promise<Answer>,
  told: { readonly accept: () => void; readonly refuse: (failure: Failure) => Promise<void> | void },
): Promise<Answer> {
  return answering.then(
    (answer) => {
      // A 404 that doesn't name the thing asked for may come from a proxy before the service, and says nothing of the
      // key.
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
