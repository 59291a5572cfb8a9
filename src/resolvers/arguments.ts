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
