import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Failure } from '../errors.ts';

/** Texts of operations by what clients call them instead of sending them. */
export interface PersistedTexts {
  /** @param isProven whether it is for a key that the service has accepted lately */
  get(name: string, isProven?: boolean): string | undefined;
  /** Keeps a text, where clients may add any. */
  set(name: string, text: string): void;
  /** Whether an operation may run. */
  allows(text: string): boolean;
  /** The only ones that may run at the moment; null where any may. */
  readonly trusted: readonly TrustedDocument[] | null;
  /** Looks for changes no more. */
  stop(): void;
}

/** An operation that may run where no others may. */
export interface TrustedDocument {
  /** What clients name it by in `documentId`. */
  readonly id: string;
  readonly text: string;
}

/** Says that a text is none of those that may run. */
export function unlisted(): Failure {
  return new Failure(
    'DOCUMENT_NOT_ALLOWED',
    'This document is not among those that may run here (TRUSTED_DOCUMENTS); it has to be listed as it is, to the last blank.',
  );
}

/** Bytes of texts that are kept at once; the least recently used go first. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Bytes of those that nobody has asked for by a key that the service has accepted: anybody can send texts. */
const MAX_NEW_BYTES = 2 * 1024 * 1024;

/** What a text takes beside its characters. */
const OVERHEAD_BYTES = 300;

/** Texts that clients have sent with their SHA-256 once, and then name by it ("automatic persisted queries"). */
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

/** The name that clients give a text unless told otherwise. */
export function sha256Of(text: string): string {
  return hash('sha256', text, 'hex');
}

/** A name without that of its digest, which clients may put before it. */
export function bareHash(name: string): string {
  return name.replace(/^sha256:/, '');
}
