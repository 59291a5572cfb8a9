import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { ConfigError } from '../config.ts';

/** Texts of operations by what clients call them instead of sending them. */
export interface PersistedTexts {
  get(name: string): string | undefined;
  /** Keeps a text, where clients may add any. */
  set(name: string, text: string): void;
  /** Whether an operation may run. */
  allows(text: string): boolean;
}

/** Characters of texts that clients may have kept at once; the least recently used go first. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

/** Texts that clients have sent with their SHA-256 once, and then name by it ("automatic persisted queries"). */
export function createPersisted(): PersistedTexts {
  const texts = new LRUCache<string, string>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (text, name) => text.length + name.length,
  });
  return {
    get: (name) => texts.get(name),
    set: (name, text) => void texts.set(name, text),
    allows: () => true,
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

/** As GraphQL Code Generator and Relay write it, or as Apollo does. */
const Manifest = z.union([
  z
    .object({ operations: z.array(z.object({ id: z.string().min(1), body: z.string().min(1) })) })
    .transform(({ operations }) => operations.map(({ id, body }) => [id, body] as const)),
  z.record(z.string().min(1), z.string().min(1)).transform((texts) => Object.entries(texts)),
]);

/**
 * The texts of a file, and no others: `{"<hash>": "<text>"}`, or a manifest of Apollo's.
 * @throws ConfigError where the file can't be read, or is neither
 */
export async function readTrusted(path: string): Promise<PersistedTexts> {
  const listed = await readFile(path, 'utf8')
    .then((text) => Manifest.parse(JSON.parse(text)))
    .catch((cause: Error) => {
      const problem = cause instanceof z.ZodError ? 'expected {"<hash>": "<text>", …}' : cause.message;
      throw new ConfigError(`TRUSTED_DOCUMENTS: ${path} holds no operations: ${problem}`, { cause });
    });
  const texts = new Map(listed.map(([name, text]) => [bareHash(name), text]));
  const allowed = new Set(texts.values());
  return { get: (name) => texts.get(bareHash(name)), set() {}, allows: (text) => allowed.has(text) };
}
