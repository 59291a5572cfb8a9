import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The form of identifiers that clients and proxies write: nothing that a log or JSON would have to escape. */
const WELL_FORMED = /^[\w.:=+/@-]{1,128}$/;

/** Returns the identifier that a request comes with, if it is well-formed; else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return isRequestId(given) ? given : randomUUID();
}

export function isRequestId(given: unknown): given is string {
  return typeof given === 'string' && WELL_FORMED.test(given);
}
