import { Failure } from '../shared/errors.ts';

/** Parts of the graph that an issued key can be kept out of, as the SDL tags their types. All the rest is `base`. */
export const TAGS = ['figures', 'markets', 'government', 'trade', 'policy'] as const;
export type Tag = (typeof TAGS)[number];

/** The parts of the graph that a key may read beside the base. */
export interface Rights {
  /** The same for keys of the same rights: what one of them may see, the others may see. */
  readonly name: string;
  readonly tags: ReadonlySet<string>;
}

/**
 * Judges if a caller may have what it is about to reach: an answer of the service, fetched or cached, or an object. Every
 * door leads there, so that none has to judge by itself.
 * @throws Failure DOCUMENT_NOT_ALLOWED if the key may not read it
 */
export function checkRight({ rights }: { readonly rights?: Rights | undefined }, tag: Tag | 'base'): void {
  if (rights === undefined || tag === 'base' || rights.tags.has(tag)) return;
  throw notReadable(rights, tag);
}

/** Makes the failure of a key that may not read a part of the graph. */
export function notReadable({ tags }: Rights, tag: string): Failure {
  return new Failure(
    'DOCUMENT_NOT_ALLOWED',
    `This key may not read ${tag}; it may read ${[...tags].join(', ')}.`,
  );
}
