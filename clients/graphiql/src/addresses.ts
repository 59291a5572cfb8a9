/** Address of these scripts. */
const HERE: string = import.meta.url;

/**
 * Addresses above these scripts, with a slash at their ends: scripts are in `graphiql/assets/` of a gateway, at any path that a
 * proxy serves it at. A name and a password that stood in the address of the page are no part of them, since `fetch` takes no
 * such address.
 */
function above(path: string): string {
  const { protocol, host, pathname } = new URL(path, HERE);
  return `${protocol}//${host}${pathname}`;
}

/** The folder of the page. */
export const PAGE = above('../');

/** The gateway's own address, if it is one that serves the page. */
export const GATEWAY = above('../../');
