import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import type { Store } from './store.ts';

/** Names the holder of a bearer key without holding the key. */
export type Digest = (authorization: string) => string;

/** Bytes of a pepper that nobody chose. */
const PEPPER_BYTES = 32;

/** Headers whose digests are at hand: to make one takes as long as to find an answer that is kept. */
const MAX_AT_HAND = 256;

/**
 * A keyed digest of the `Authorization` header, the same however its scheme is spelt. Gateways that share a store must
 * agree on the pepper: where none is given, the first of them makes one and leaves it in the store; without a store it
 * lives as long as the process. Where the store could not be reached, or has lost it, the pepper is read again as soon as
 * the store is back, since others may have left another there.
 */
export async function createDigest(pepper: string | undefined, store: Store | null): Promise<Digest> {
  let text = pepper ?? randomBytes(PEPPER_BYTES).toString('base64url');
  /** As a key, since a text would be made one for each digest. */
  let secret = createSecretKey(text, 'utf8');
  const atHand = new Map<string, string>();
  if (pepper === undefined && store !== null) {
    const agree = async () => {
      text = (await store.first('pepper', text)) ?? text;
      secret = createSecretKey(text, 'utf8');
      atHand.clear();
    };
    await agree();
    store.onReturn(() => void agree());
  }
  return (authorization) => {
    const known = atHand.get(authorization);
    if (known !== undefined) return known;
    const digest = createHmac('sha256', secret).update(sameHowever(authorization)).digest('base64url');
    if (atHand.size >= MAX_AT_HAND) atHand.clear();
    atHand.set(authorization, digest);
    return digest;
  };
}

/** The scheme is one however it is spelt, and so is the key however many blanks stand before it. */
function sameHowever(authorization: string): string {
  return authorization.replace(/^bearer +/i, 'Bearer ');
}
