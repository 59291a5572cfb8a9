import { hash } from 'node:crypto';
import { BoundedCache, OVERHEAD_BYTES } from '../../cache/lru.ts';
import { Failure } from '../../shared/errors.ts';

/** Texts by the names that clients send instead. */
export interface PersistedTexts {
  /** @param isProven true for a key that the service has accepted lately */
  get(name: string, isProven?: boolean): string | undefined;
  set(name: string, text: string): void;
  allows(text: string): boolean;
  /** Allows a text derived from a listed one; returns the name to ask for it by. */
  admit(text: string): string;
  /** True for trusted documents, though others may run too. */
  lists(text: string): boolean;
  /** Null if any document may run. */
  readonly trusted: readonly TrustedDocument[] | null;
  /** The trusted documents, though others may run too; replaced when they change. */
  readonly listed: readonly TrustedDocument[];
  /** Reads the trusted documents again if they have changed, for who has just read something that names them. */
  look(): Promise<void>;
  stop(): void;
}

export interface TrustedDocument {
  /** Sent as `documentId`. */
  readonly id: string;
  readonly text: string;
}

export function unlisted(): Failure {
  return new Failure(
    'DOCUMENT_NOT_ALLOWED',
    'This document is not one of those that may run here (TRUSTED_DOCUMENTS). It must be listed exactly as it is, whitespace included.',
  );
}

/** The least recently used texts go first. */
const MAX_PERSISTED_BYTES = 16 * 1024 * 1024;

/** For texts that no accepted key has used: anybody can send them. */
const MAX_NEW_BYTES = 2 * 1024 * 1024;

/** Automatic persisted queries: texts sent once with their SHA-256, and then named by it. */
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
    async look() {},
    stop() {},
  };
}

export function sha256Of(text: string): string {
  return hash('sha256', text, 'hex');
}

/** Clients may prefix a hash with the name of the digest. */
export function bareHash(name: string): string {
  return name.replace(/^sha256:/, '');
}

export interface AskedText {
  readonly text: string;
  readonly operationName: string | undefined;
}
