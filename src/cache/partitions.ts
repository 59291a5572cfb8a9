import { createHmac, randomBytes } from 'node:crypto';
import type { Store } from './store.ts';

/** Names the holder of a bearer key without holding the key. */
export type Digest = (authorization: string) => string;

/** Bytes of a pepper that nobody chose. */
const PEPPER_BYTES = 32;

/**
 * A keyed digest of the `Authorization` header. Gateways that share a store must agree on the pepper: where none is
 * given, the first of them makes one and leaves it in the store; without a store it lives as long as the process.
 */
export async function createDigest(pepper: string | undefined, store: Store | null): Promise<Digest> {
  const made = randomBytes(PEPPER_BYTES).toString('base64url');
  const secret = pepper ?? (await store?.first('pepper', made)) ?? made;
  return (authorization) => createHmac('sha256', secret).update(authorization).digest('base64url');
}
