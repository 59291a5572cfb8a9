import { Failure } from '../../shared/errors.ts';

const MAX_CHARACTERS = 200;

/**
 * Refuses strings that can't be sent in a URL: unpaired surrogates, or longer than any name.
 * @throws Failure BAD_USER_INPUT
 */
export function checkStrings(texts: Readonly<Record<string, unknown>>): void {
  for (const [name, text] of Object.entries(texts)) {
    if (typeof text !== 'string' || (text.length <= MAX_CHARACTERS && text.isWellFormed())) continue;
    throw new Failure(
      'BAD_USER_INPUT',
      `\`${name}\` is text of up to ${MAX_CHARACTERS} characters; this is ${JSON.stringify(text.slice(0, 20))}.`,
    );
  }
}

/**
 * Commas separate keys in a call, so a key that contains one would ask for other keys.
 * @throws Failure BAD_USER_INPUT
 */
export function checkMetricKey(key: string): void {
  if (!/^[^\s,]{1,200}$/.test(key) || !key.isWellFormed()) {
    throw new Failure(
      'BAD_USER_INPUT',
      `An indicator key is one word, such as population_total; this is ${JSON.stringify(key)}.`,
    );
  }
}

const LAST_YEAR = 9999;

/** @throws Failure BAD_USER_INPUT if it is no year */
export function checkSince(since: number | null | undefined): void {
  if (since == null || (since >= 1 && since <= LAST_YEAR)) return;
  throw new Failure('BAD_USER_INPUT', `\`since\` is a year, such as 2015; this is ${since}.`);
}

/**
 * Maximum age in milliseconds; infinite if none is given.
 * @throws Failure BAD_USER_INPUT
 */
export function maxAgeMsOf(maxAge: number | null | undefined): number {
  if (maxAge == null) return Number.POSITIVE_INFINITY;
  if (maxAge < 0)
    throw new Failure('BAD_USER_INPUT', `maxAge is in seconds and not below 0; this is ${maxAge}.`);
  return maxAge * 1000;
}
