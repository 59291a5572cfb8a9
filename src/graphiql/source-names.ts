/** Names of sources by their keys, and addresses of their pages, as the operator of the gateway gives them. */
export type SourceNames = Readonly<Record<string, { readonly name: string; readonly url: string | null }>>;

let names: SourceNames = {};

export function setSourceNames(all: SourceNames): void {
  names = all;
}

/** Returns the name and page of a source; null if only its key is known. */
export function namedSource(key: string): SourceNames[string] | null {
  return Object.hasOwn(names, key) ? (names[key] ?? null) : null;
}

export const nameOfSource = (key: string): string => namedSource(key)?.name ?? key;

/** Sources that have a page, by their names. */
export function pagesOfSources(): ReadonlyMap<string, string> {
  return new Map(
    Object.values(names).flatMap(({ name, url }) => (url === null ? [] : [[name, url] as const])),
  );
}
