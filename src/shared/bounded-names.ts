import { createHash } from 'node:crypto';

/** Characters of the names of tools, as models' interfaces take them: a longer one fails a request. */
const MAX_NAME = 64;

const SUFFIX = 8;

/** Cuts a name to a length, with a suffix that tells it from others. */
function withSuffix(name: string, suffix: string): string {
  return `${name.slice(0, MAX_NAME - SUFFIX - 1)}_${suffix.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, SUFFIX)}`;
}

/**
 * Returns a name of up to 64 characters: as given, or a shorter one that is the same each time. One that is taken gets a suffix
 * by whose it is.
 */
export function boundedName(name: string, whose: string, isTaken = (_name: string) => false): string {
  const isShort = name.length <= MAX_NAME;
  const bounded = isShort
    ? name
    : withSuffix(name, createHash('sha256').update(`${whose} ${name}`).digest('hex'));
  return isTaken(bounded) ? withSuffix(bounded, whose) : bounded;
}
