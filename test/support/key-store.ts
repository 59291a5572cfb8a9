import { openKeptStore } from '../../src/cache/kept-store.ts';
import { type KeyStore, keyStoreIn } from '../../src/plugins/issued-keys/key-store.ts';

/** Issued keys as the gateways of a `CACHE_URL` have them. */
export const openKeyStore = async (url: string, timeoutMs: number): Promise<KeyStore> =>
  keyStoreIn(await openKeptStore(url, timeoutMs));
