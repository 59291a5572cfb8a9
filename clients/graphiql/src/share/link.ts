/** An operation as a link carries it. */
export interface Shared {
  readonly query: string;
  /** JSON as written, or empty. */
  readonly variables: string;
  /** The view of the answer, as text; left out if it is the default. */
  readonly seen?: string | undefined;
}

/** Characters of a link that are read, and made. */
export const MAX_LINK = 30_000;

/** Characters that mail programs, chats and cells of spreadsheets take: Excel cuts at 2,079, some mail programs before. */
const SAFE_LINK = 2_000;

/** What somebody who copies a link should know of its length; empty for a short one. */
export const warningOf = ({ length }: string) =>
  length > SAFE_LINK
    ? `; it has ${length.toLocaleString('en')} characters, of which some mail programs and chats take ${SAFE_LINK.toLocaleString('en')}`
    : '';

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
