/** A source as a reader knows it. */
export interface NamedSource {
  readonly name: string;
  /** Address of its page; null if none is known. */
  readonly url: string | null;
}

/** Sources by their keys. */
export type SourceNames = ReadonlyMap<string, NamedSource>;

/** The list of sources. Pictures take their names from it at no call, where it is cached. */
export const SOURCES = '{ sources { key name url } }';

interface Listed {
  readonly key: string;
  readonly name: string | null;
  readonly url: string | null;
}

/** Returns the names in the data of an answer to `SOURCES`; null if the list isn't there. */
export function namesIn(data: unknown): SourceNames | null {
  const { sources = null } = (data ?? {}) as { readonly sources?: readonly Listed[] | null };
  if (sources === null) return null;
  return new Map(
    sources.flatMap(({ key, name, url }) => (name === null ? [] : [[key, { name, url }] as const])),
  );
}
