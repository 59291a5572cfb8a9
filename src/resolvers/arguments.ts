import { Failure } from '../errors.ts';

/** Characters of a text that goes into an address. */
const MAX_CHARACTERS = 200;

/**
 * Texts that no address can carry ask for nothing: those with half of a surrogate pair, and those that no name is as
 * long as.
 * @throws Failure BAD_USER_INPUT
 */
export function checkTexts(texts: Readonly<Record<string, unknown>>): void {
  for (const [name, text] of Object.entries(texts)) {
    if (typeof text !== 'string' || (text.length <= MAX_CHARACTERS && text.isWellFormed())) continue;
    throw new Failure(
      'BAD_USER_INPUT',
      `\`${name}\` is text of up to ${MAX_CHARACTERS} characters; this is ${JSON.stringify(text.slice(0, 20))}.`,
    );
  }
}

/**
 * Commas separate keys in a call and blanks stand in none, so a key with either would ask for something else.
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

/**
 * How old a held figure may be, in milliseconds.
 * @throws Failure BAD_USER_INPUT
 */
export function maxAgeMsOf(maxAge: number | null | undefined): number {
  if (maxAge == null) return Number.POSITIVE_INFINITY;
  if (maxAge < 0)
    throw new Failure('BAD_USER_INPUT', `maxAge is in seconds and not below 0; this is ${maxAge}.`);
  return maxAge * 1000;
}
