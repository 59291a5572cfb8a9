import { hash } from 'node:crypto';
import { BoundedCache, OVERHEAD_BYTES } from '../../cache/lru.ts';
import { Failure } from '../../shared/errors.ts';

/** Texts of operations by the names that clients send in their place. */
export interface PersistedTexts {
  /** @param isProven true if it is for a key that the service has accepted lately */
  get(name: string, isProven?: boolean): string | undefined;
  /** Keeps a text, if clients may add any. */
  set(name: string, text: string): void;
  allows(text: string): boolean;
  /** Lets a text run that a part of the program has made of a listed one. Returns the name to ask for it by. */
  admit(text: string): string;
  /** True if an operation is among the trusted documents, though others may run too. */
  lists(text: string): boolean;
  /** The only documents that may run at the moment; null if any may. */
  readonly trusted: readonly TrustedDocument[] | null;
  /** The trusted documents at the moment, though others may run too: another list once they have changed. */
  readonly listed: readonly TrustedDocument[];
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
    'This document is not one of those that may run here (TRUSTED_DOCUMENTS). It must be listed exactly as it is, whitespace included.',
  );
}

/** Bytes of texts that are cached at once; the least recently used go first. */
const MAX_PERSISTED_BYTES = 16 * 1024 * 1024;

/** Bytes of texts that nobody has asked for by a key that the service has accepted: anybody can send texts. */
const MAX_NEW_BYTES = 2 * 1024 * 1024;

/** Holds texts that clients have sent with their SHA-256 once, and then name by it ("automatic persisted queries"). */
export function createPersisted(): PersistedTexts {
  const textsOf = (maxBytes: number) =>
    new BoundedCache<{ readonly text: string }>(
      maxBytes,
      ({ text }, name) => OVERHEAD_BYTES + 2 * (text.length + name.length),
    );
  const texts = textsOf(MAX_PERSISTED_BYTES);
  const newTexts = textsOf(MAX_NEW_BYTES);
  return {
    get(name, isProven = false) {
      const entry = texts.get(name) ?? newTexts.get(name);
      if (isProven && entry !== undefined && newTexts.delete(name)) texts.set(name, entry);
      return entry?.text;
    },
    set(name, text) {
      if (!texts.has(name)) newTexts.set(name, { text });
    },
    allows: () => true,
    admit: sha256Of,
    lists: () => false,
    trusted: null,
    listed: [],
    stop() {},
  };
}

/** Returns the name that clients give a text unless set otherwise. */
export function sha256Of(text: string): string {
  return hash('sha256', text, 'hex');
}

/** Takes the name of the digest, which clients may put first, off a name. */
export function bareHash(name: string): string {
  return name.replace(/^sha256:/, '');
}

export interface AskedText {
  readonly text: string;
  readonly operationName: string | undefined;
}
