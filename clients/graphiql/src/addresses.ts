/** Address of these scripts. */
const HERE: string = import.meta.url;

/**
 * The gateway's own address, with a slash at its end: scripts are in `graphiql/assets/` below it, at any path that a proxy serves
 * it. A name and a password that stood in the address of the page are no part of it, since `fetch` takes no such address.
 */
export const GATEWAY: string = (() => {
  const { protocol, host, pathname } = new URL('../../', HERE);
  return `${protocol}//${host}${pathname}`;
})();
