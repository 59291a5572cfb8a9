/*
 * A reader of JSON that loses no digits. JavaScript's numbers hold 15 digits for certain. A number that would lose some
 * is kept as it was written: an object that `JSON.stringify` writes as the same digits.
 */

/** A number as it was written. */
interface RawNumber {
  readonly rawJSON: string;
}

declare global {
  interface JSON {
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
  }
}

/** Digits that no number loses. */
const SURE_DIGITS = 15;

/** The pattern of a number that may be beyond all numbers. */
const LARGE_EXPONENT = /\d[eE][+-]?\d{3}/;

/** @throws SyntaxError if the text is not JSON */
export function parseExactly(text: string): unknown {
  const mayLose = hasManyDigits(text) || LARGE_EXPONENT.test(text);
  return mayLose ? JSON.parse(text, keepDigits as never) : JSON.parse(text);
}

/**
 * Tells if there are more digits and points in a row than are sure; most texts have no such thing. A run of so many
 * holds one of every sixteenth characters, so no others are looked at: as an expression, this took as long as the
 * parser does.
 */
function hasManyDigits(text: string): boolean {
  for (let at = SURE_DIGITS; at < text.length; at += SURE_DIGITS + 1) {
    if (!isOfNumber(text, at)) continue;
    let [from, to] = [at, at];
    while (isOfNumber(text, from - 1)) from -= 1;
    while (isOfNumber(text, to + 1)) to += 1;
    if (to - from >= SURE_DIGITS) return true;
    at = to;
  }
  return false;
}

function isOfNumber(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (code >= 48 && code <= 57) || code === 46;
}

function keepDigits(_name: string, value: unknown, { source = '' }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || String(value) === source) return value;
  const isSure = source.length <= SURE_DIGITS && Number.isFinite(value);
  return isSure ? value : JSON.rawJSON(source);
}

/**
 * Returns the nearest number to one that is kept as it was written, infinite if it is beyond all; any other value as it
 * is.
 */
export function asNumber(value: unknown): unknown {
  return JSON.isRawJSON(value) ? Number(value.rawJSON) : value;
}

/** The pattern of a number in decimal digits, with or without a sign, a fraction and an exponent. */
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** Characters beyond which a text is no number that anybody means. */
const MAX_CHARACTERS = 1_000;

/**
 * Reads the number that a text spells; null if it is none, or beyond all numbers. All texts of others are read here.
 */
export function numberOf(text: string): number | null {
  const spelt = text.length > MAX_CHARACTERS ? '' : text.trim();
  const number = DECIMAL.test(spelt) ? Number(spelt) : Number.NaN;
  return Number.isFinite(number) ? number : null;
}
