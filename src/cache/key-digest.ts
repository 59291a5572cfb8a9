import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import type { Store } from './store.ts';

/** Names the holder of a bearer key without holding the key. */
export type Digest = (authorization: string) => string;

/** Bytes of a pepper that nobody chose. */
const PEPPER_BYTES = 32;

/** Headers whose digests are at hand: a digest takes as long to make as a kept answer takes to find. */
const MAX_AT_HAND = 256;

/**
 * Makes keyed digests of the `Authorization` header, the same for all spellings of its scheme. Gateways that share a
 * store must agree on the pepper: if none is given, the first of them makes one and leaves it in the store; without a
 * store it lives as long as the process. If the store could not be reached, or has lost it, the pepper is read again as
 * soon as the store is back, since others may have left another there.
 */
export async function createDigest(pepper: string | undefined, store: Store | null): Promise<Digest> {
  let text = pepper ?? randomBytes(PEPPER_BYTES).toString('base64url');
  /** The pepper as a key, since a text would be made one for each digest. */
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

/** Spells the scheme in one way, with one blank before the key. */
function sameHowever(authorization: string): string {
  return authorization.replace(/^bearer +/i, 'Bearer ');
}
