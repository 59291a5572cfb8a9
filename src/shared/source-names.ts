/** A source as a reader knows it. */
export interface NamedSource {
  readonly name: string;
  /** Address of its page; null if none is known. */
  readonly url: string | null;
}

/** The service that figures come through, as its specification names it; it names no page. */
export const SERVICE: NamedSource = { name: 'Country Data Service', url: null };

/** Names a service with its page, for texts without links. */
export const nameAndPage = ({ name, url }: NamedSource) => (url === null ? name : `${name} (${url})`);

/** For responses without room for it, such as tables, as JSON in ASCII. */
export const attributionHeader = (service: NamedSource) =>
  [
    'x-attribution',
    JSON.stringify(service).replace(
      /[^\x20-\x7e]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  ] as const;

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
