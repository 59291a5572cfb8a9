import type { SitePage } from './layout.ts';

/** A find of the search: a page or a heading of one. Short names, since all of them are loaded at once. */
export interface SearchEntry {
  /** Its title. */
  readonly t: string;
  /** The page that it stands on; empty for the page itself. */
  readonly p: string;
  /** Its address, from the root of the site. */
  readonly u: string;
  /** The beginning of its text. */
  readonly d: string;
}

export function searchIndex(pages: readonly SitePage[]): SearchEntry[] {
  return pages.flatMap(({ path, title, headings }) =>
    headings.map(({ level, id, text, summary }) => {
      const isPage = level === 1;
      const isField = path.startsWith('schema/') && !isPage && path !== 'schema/index.html';
      return {
        t: isField && id !== 'used-by' ? `${title}.${text}` : text,
        p: isPage ? '' : title,
        u: isPage ? path : `${path}#${id}`,
        d: summary,
      };
    }),
  );
}
