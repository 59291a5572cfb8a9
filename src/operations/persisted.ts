import { LRUCache } from 'lru-cache';

/** Texts of operations by the SHA-256 of each, in hexadecimal digits. */
export interface PersistedTexts {
  get(hash: string): string | undefined;
  /** Keeps a text, where clients may add any. */
  set(hash: string, text: string): void;
  /** Whether an operation may run. */
  allows(text: string): boolean;
}

/** Characters of texts that clients may have kept at once; the least recently used go first. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

/** Texts that clients have sent with their hash once, and then name by it ("automatic persisted queries"). */
export function createPersisted(): PersistedTexts {
  const texts = new LRUCache<string, string>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (text, hash) => text.length + hash.length,
  });
  return {
    get: (hash) => texts.get(hash),
    set: (hash, text) => void texts.set(hash, text),
    allows: () => true,
  };
}
