/** Names of sources by their keys, and addresses of their pages, as the operator of the gateway gives them. */
export type SourceNames = Readonly<Record<string, { readonly name: string; readonly url: string | null }>>;

let names: SourceNames = {};

/** A figure, as far as it tells of its source. */
interface OfSource {
  readonly source: string | null;
  readonly origin: { readonly name: string | null; readonly url: string | null } | null;
}

export function setSourceNames(all: SourceNames): void {
  names = all;
}

/** Returns the name and page of a source; null if only its key is known. */
function namedSource(key: string): SourceNames[string] | null {
  return Object.hasOwn(names, key) ? (names[key] ?? null) : null;
}

/** Returns the name and page of a figure's source, by the answer or else as this gateway knows it; null if there is only a key. */
export function sourceOf({ source, origin }: OfSource): SourceNames[string] | null {
  if (source === null) return null;
  const namedBefore = namedSource(source);
  if (origin?.name == null) return namedBefore;
  return { name: origin.name, url: origin.url ?? namedBefore?.url ?? null };
}

/** The name of a figure's source, or its key; empty if the answer names none. */
export const sourceNameOf = (figure: OfSource): string => sourceOf(figure)?.name ?? figure.source ?? '';

/** Pages of the sources of figures, by their names. */
export function pagesOf(figures: readonly OfSource[]): ReadonlyMap<string, string> {
  const pages = new Map<string, string>();
  for (const figure of figures) {
    const { name, url } = sourceOf(figure) ?? {};
    if (name !== undefined && url != null) pages.set(name, url);
  }
  return pages;
}
