import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Failure } from '../errors.ts';

/** Texts of operations by the names that clients send in their place. */
export interface PersistedTexts {
  /** @param isProven true if it is for a key that the service has accepted lately */
  get(name: string, isProven?: boolean): string | undefined;
  /** Keeps a text, if clients may add any. */
  set(name: string, text: string): void;
  /** Tells if an operation may run. */
  allows(text: string): boolean;
  /** The only documents that may run at the moment; null if any may. */
  readonly trusted: readonly TrustedDocument[] | null;
  /** Stops looking for changes. */
  stop(): void;
}

/** A document that may run if no others may. */
export interface TrustedDocument {
  /** The name that clients send as `documentId`. */
  readonly id: string;
  readonly text: string;
}

/** Makes the failure of a text that is none of those that may run. */
export function unlisted(): Failure {
  return new Failure(
    'DOCUMENT_NOT_ALLOWED',
    'This document is not among those that may run here (TRUSTED_DOCUMENTS); it has to be listed as it is, to the last blank.',
  );
}

/** Bytes of texts that are kept at once; the least recently used go first. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Bytes of texts that nobody has asked for by a key that the service has accepted: anybody can send texts. */
const MAX_NEW_BYTES = 2 * 1024 * 1024;

/** Bytes that a text takes beside its characters. */
const OVERHEAD_BYTES = 300;

/** Holds texts that clients have sent with their SHA-256 once, and then name by it ("automatic persisted queries"). */
export function createPersisted(): PersistedTexts {
  const textsOf = (maxSize: number) =>
    new LRUCache<string, string>({
      maxSize,
      sizeCalculation: (text, name) => OVERHEAD_BYTES + 2 * (text.length + name.length),
    });
  const texts = textsOf(MAX_BYTES);
  const newTexts = textsOf(MAX_NEW_BYTES);
  return {
    get(name, isProven = false) {
      const text = texts.get(name) ?? newTexts.get(name);
      if (isProven && text !== undefined && newTexts.delete(name)) texts.set(name, text);
      return text;
    },
    set(name, text) {
      if (!texts.has(name)) newTexts.set(name, text);
    },
    allows: () => true,
    trusted: null,
    stop() {},
  };
}

/** Returns the name that clients give a text unless told otherwise. */
export function sha256Of(text: string): string {
  return hash('sha256', text, 'hex');
}

/** Takes the name of the digest, which clients may put first, off a name. */
export function bareHash(name: string): string {
  return name.replace(/^sha256:/, '');
}
