import type { IncomingMessage } from 'node:http';

const AUTHORIZATION = 'authorization';
/** Characters that no key reaches. */
const MAX_KEY_LENGTH = 4_096;
export const SEVERAL_KEYS = 'The request has several Authorization headers.';
export const MALFORMED_KEY = `A key has up to ${MAX_KEY_LENGTH} printable ASCII characters and no blanks.`;

/**
 * Tells if a request has several keys. Node keeps the first of them, and others on the way of a request may take the
 * last.
 */
export function hasSeveralKeys({ rawHeaders }: IncomingMessage): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) count += 1;
  }
  return count > 1;
}

/** Tells if a header may be a key at all. If there is no key in it, the fields that need one say so. */
export function isWellFormed(authorization: string | undefined): boolean {
  if (authorization === undefined) return true;
  if (authorization.length > MAX_KEY_LENGTH || !/^[ -~]*$/.test(authorization)) return false;
  return !/^bearer +\S+ /i.test(authorization);
}

/** Tells if there is a key in a header. */
export function isBearer(authorization: string): boolean {
  return /^bearer +\S/i.test(authorization);
}
