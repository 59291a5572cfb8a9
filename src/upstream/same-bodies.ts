import { LRUCache } from 'lru-cache';
import type { ReceivedBody } from './exchange.ts';

/** Bytes of answers that are remembered, and of one of them: a full data call of 1,000 rows has half a megabyte. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_BODY_BYTES = 1024 * 1024;

interface Read {
  readonly bytes: Buffer;
  readonly body: unknown;
}

/**
 * The last answers of the service by target, as bytes and as read. It mostly sends the same bytes to all that ask for
 * the same thing: then they are not read again, and the parsed body is shared. Nobody is given anything here that the
 * service has not just sent under their own key.
 */
export interface SameBodies {
  /** Returns the parsed body of these bytes, if they are those of the last answer; undefined if they are not. */
  find(target: string, received: ReceivedBody): unknown;
  /** @param bytes theirs alone: any others in their memory would be kept with them */
  add(target: string, bytes: Buffer, body: unknown): void;
}

export function createSameBodies(): SameBodies {
  const last = new LRUCache<string, Read>({
    maxSize: MAX_BYTES,
    maxEntrySize: MAX_BODY_BYTES,
    sizeCalculation: ({ bytes }, target) => bytes.length + target.length,
  });
  return {
    find(target, received) {
      const read = last.get(target);
      return read !== undefined && received.equals(read.bytes) ? read.body : undefined;
    },
    add(target, bytes, body) {
      if (bytes.length <= MAX_BODY_BYTES) last.set(target, { bytes, body });
    },
  };
}
