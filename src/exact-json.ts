/*
 * JavaScript's numbers hold 15 digits for certain. A number that would lose some is kept as it was written: an object that
 * `JSON.stringify` writes as the same digits.
 */

/** A number as it was written. */
export interface RawNumber {
  readonly rawJSON: string;
}

declare global {
  interface JSON {
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
  }
}

/** Whether there may be a number that loses digits; most texts have none, and are read the fast way. */
const LONG_NUMBER = /[\d.]{16}|\de[+-]?\d{3}/i;

/** Digits that no number loses. */
const SURE_DIGITS = 15;

/** @throws SyntaxError where the text is not JSON */
export function parseExactly(text: string): unknown {
  return LONG_NUMBER.test(text) ? JSON.parse(text, keepDigits as never) : JSON.parse(text);
}

function keepDigits(_name: string, value: unknown, { source = '' }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || String(value) === source) return value;
  const isSure = source.length <= SURE_DIGITS && Number.isFinite(value);
  return isSure ? value : JSON.rawJSON(source);
}

/** The nearest number to one that is kept as it was written; any other value as it is. */
export function asNumber(value: unknown): unknown {
  return JSON.isRawJSON(value) ? Number(value.rawJSON) : value;
}
