import type { Shelf } from '../cache/shelf.ts';
import { Failure } from '../errors.ts';
import type { Send } from './call.ts';

/**
 * Tells the shelf what each answer says of the caller's key: whether the service accepts it, and may be served what is
 * held for it, or refuses it (401, 403), when nothing of that is served any more.
 */
export function vouched(next: Send, shelf: Pick<Shelf, 'accept' | 'refuse'>): Send {
  return async (call, sending) => {
    const { partition } = sending.caller;
    if (call.isPublic) return next(call, sending);
    try {
      const answer = await next(call, sending);
      shelf.accept(partition);
      return answer;
    } catch (error) {
      if (error instanceof Failure) {
        if (error.code === 'UNAUTHENTICATED' || error.code === 'FORBIDDEN') shelf.refuse(partition, error);
        if (error.code === 'BAD_USER_INPUT') shelf.accept(partition);
      }
      throw error;
    }
  };
}
