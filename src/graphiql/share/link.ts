/** An operation as a link carries it. */
export interface Shared {
  readonly query: string;
  /** JSON as written, or empty. */
  readonly variables: string;
  /** The view of the answer, as text; left out if it is the default. */
  readonly seen?: string | undefined;
}

/** Characters of a link that are read, and made: beyond that, mail programs and chats cut links. */
export const MAX_LINK = 30_000;

/**
 * The address of this page with an operation in its fragment, which no server sees. It has no room for a key or a header.
 * @param page address of the page, without a fragment
 */
export function linkTo(page: string, { query, variables, seen }: Shared): string | null {
  const params = new URLSearchParams({ query });
  if (variables.trim() !== '') params.set('variables', variables);
  if (seen !== undefined) params.set('seen', seen);
  const link = `${page}#${params}`;
  return link.length > MAX_LINK ? null : link;
}

/** The operation of a fragment, with its `#`; null if it holds none. */
export function sharedIn(fragment: string): Shared | null {
  if (fragment.length > MAX_LINK) return null;
  const params = new URLSearchParams(fragment.replace(/^#/, ''));
  const query = params.get('query');
  if (query === null || query.trim() === '') return null;
  const seen = params.get('seen');
  return { query, variables: params.get('variables') ?? '', ...(seen !== null && { seen }) };
}
