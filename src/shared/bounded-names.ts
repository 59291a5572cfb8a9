import { createHash } from 'node:crypto';

/** Characters of the names of tools and their arguments, as models' interfaces take them: a longer one fails a request. */
export const MAX_NAME = 64;

/** Characters of a text about a tool that all models' interfaces take. */
export const MAX_TOOL_WORDS = 1_024;

const SUFFIX = 8;

/** Cuts a name to a length, with a suffix that tells it from others. */
export function withSuffix(name: string, suffix: string): string {
  return `${name.slice(0, MAX_NAME - SUFFIX - 1)}_${suffix.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, SUFFIX)}`;
}

/** Returns a name, or a shorter one that is the same each time. */
export function boundedName(name: string, whose: string): string {
  if (name.length <= MAX_NAME) return name;
  return withSuffix(name, createHash('sha256').update(`${whose} ${name}`).digest('hex'));
}
