import { Failure } from '../errors.ts';

/** Most characters of a text that goes into an address. */
const MAX_CHARACTERS = 200;

/**
 * Refuses texts that no address can carry: those with half of a surrogate pair, and those longer than any name.
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
 * Refuses a key with a comma or a blank: commas separate keys in a call and blanks stand in none, so such a key would
 * ask for something else.
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
 * The oldest age that a held figure may have, in milliseconds; infinite if none is given.
 * @throws Failure BAD_USER_INPUT
 */
export function maxAgeMsOf(maxAge: number | null | undefined): number {
  if (maxAge == null) return Number.POSITIVE_INFINITY;
  if (maxAge < 0)
    throw new Failure('BAD_USER_INPUT', `maxAge is in seconds and not below 0; this is ${maxAge}.`);
  return maxAge * 1000;
}
