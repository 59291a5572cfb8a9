import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ConfigError } from '../../config/config.ts';
import { messageOf } from '../../shared/errors.ts';
import { checked, jsonIn, readText } from '../../shared/text-files.ts';
import { bareHash, type PersistedTexts, sha256Of, type TrustedDocument } from './persisted.ts';

const word = z.string('must be a text').min(1, 'must not be empty');

/** Written by GraphQL Code Generator and Relay. */
const TextsByName = z.record(word, word, 'must be {"<hash>": "<text>", …}').transform(Object.entries<string>);

const OfApollo = z
  .object({ operations: z.array(z.object({ id: word, body: word })) })
  .transform(({ operations }) => operations.map(({ id, body }) => [id, body] as const));

/** Files are polled: not all file systems notify. */
const LOOK_MS = 2_000;

interface Documents {
  readonly texts: ReadonlyMap<string, string>;
  readonly allowed: ReadonlySet<string>;
  readonly trusted: readonly TrustedDocument[];
}

/**
 * Allows only the texts of a file, or of all `.json` files of a folder: `{"<hash>": "<text>"}`, or Apollo's
 * manifests. Re-read when they change.
 * @param builtIn texts that may run as well, unlisted
 * @param onProblem told why changed files can't be read: the earlier documents stay until they can
 * @throws ConfigError if a file can't be read, or has neither form, or two files name different texts alike
 */
export async function openTrusted(
  path: string,
  onProblem: (problem: unknown) => void = () => {},
  lookMs = LOOK_MS,
  builtIn: readonly string[] = [],
): Promise<PersistedTexts> {
  const builtInDocuments = new Map(builtIn.map((text) => [sha256Of(text), text]));
  const file = await watchFiles(path, () => readAll(path), onProblem, lookMs);
  const isListed = (text: string) => file.content.allowed.has(text) || builtInDocuments.has(sha256Of(text));
  return {
    get: (name) => file.content.texts.get(bareHash(name)) ?? builtInDocuments.get(name),
    set() {},
    allows: isListed,
    admit(text) {
      const name = sha256Of(text);
      builtInDocuments.set(name, text);
      return name;
    },
    lists: isListed,
    get trusted() {
      return file.content.trusted;
    },
    get listed() {
      return file.content.trusted;
    },
    look: file.look,
    stop: file.stop,
  };
}

/**
 * Re-reads a file, or the `.json` files of a folder, each time they change.
 * @param onProblem told why changed files can't be read, unless they can at the next look: files that belong together are
 *   written one after the other. The earlier content stays until they can
 * @throws the error of the first read
 */
export async function watchFiles<Content>(
  path: string,
  read: () => Promise<Content>,
  onProblem: (problem: unknown) => void,
  lookMs = LOOK_MS,
): Promise<{ readonly content: Content; look(): Promise<void>; stop(): void }> {
  let seen = await stateOf(path);
  let current: Content = await read();
  let failedLooks = 0;
  async function lookOnce() {
    const state = await stateOf(path);
    if (state !== seen) failedLooks = 0;
    else if (failedLooks === 0) return;
    seen = state;
    try {
      current = await read();
      failedLooks = 0;
    } catch (problem) {
      failedLooks += 1;
      if (failedLooks === 2) onProblem(problem);
    }
  }
  let looks = Promise.resolve();
  let nextLook: Promise<void> | null = null;
  /** Begins after the one under way, which may have read an earlier state. */
  const look = () => {
    nextLook ??= looks.then(() => {
      nextLook = null;
      return lookOnce();
    });
    looks = nextLook;
    return looks;
  };
  let isLooking = false;
  const timer = setInterval(async () => {
    if (isLooking) return;
    isLooking = true;
    await look();
    isLooking = false;
  }, lookMs).unref();
  return {
    get content() {
      return current;
    },
    look,
    stop: () => clearInterval(timer),
  };
}

/** Names trusted documents while all others may run too: issued keys tell them apart. */
export function besideOtherDocuments(
  trusted: PersistedTexts,
  otherDocuments: PersistedTexts,
): PersistedTexts {
  return {
    ...otherDocuments,
    get: (name, isProven) => trusted.get(name) ?? otherDocuments.get(name, isProven),
    lists: trusted.lists,
    admit: trusted.admit,
    get listed() {
      return trusted.listed;
    },
    look: trusted.look,
    stop: trusted.stop,
  };
}

async function filesOf(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => name.endsWith('.json'));
  return names.toSorted().map((name) => join(path, name));
}

/** Differs once any file has changed. Errors are left for reading to find. */
async function stateOf(path: string): Promise<string> {
  try {
    const files = await filesOf(path);
    const states = files.map(async (file) => {
      const { mtimeMs, size, ino } = await stat(file);
      return `${file} ${mtimeMs} ${size} ${ino}`;
    });
    return (await Promise.all(states)).join('\n');
  } catch (problem) {
    return String(problem);
  }
}

async function readAll(path: string): Promise<Documents> {
  const texts = new Map<string, string>();
  const files = await filesOf(path).catch((cause: Error) => {
    throw new ConfigError(`TRUSTED_DOCUMENTS: ${path} can't be read: ${cause.message}`, { cause });
  });
  if (files.length === 0)
    throw new ConfigError(`TRUSTED_DOCUMENTS: ${path} is a folder without a .json file.`);
  for (const file of files) {
    for (const [id, text] of await readManifest(file)) {
      const name = bareHash(id);
      if ((texts.get(name) ?? text) !== text) {
        throw new ConfigError(`TRUSTED_DOCUMENTS: ${file} calls another text ${name} than a file before it.`);
      }
      texts.set(name, text);
    }
  }
  return {
    texts,
    allowed: new Set(texts.values()),
    trusted: Array.from(texts, ([id, text]) => ({ id, text })),
  };
}

async function readManifest(file: string): Promise<readonly (readonly [id: string, text: string])[]> {
  try {
    const text = await readText(file);
    const manifest = jsonIn(text, file);
    const isOfApollo = Array.isArray((manifest as { readonly operations?: unknown } | null)?.operations);
    return checked(isOfApollo ? OfApollo : TextsByName, manifest, text, file);
  } catch (cause) {
    throw new ConfigError(`TRUSTED_DOCUMENTS: ${messageOf(cause)}`, { cause });
  }
}
