/*
 * A reader of JSON that loses no digits. JavaScript's numbers hold 15 digits for certain. A number that would lose some
 * is kept as it was written: an object that `JSON.stringify` writes as the same digits.
 */

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
 * True if there are more digits and points in a row than are sure; most texts have no such thing. A run of so many
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

/** Returns the nearest number to one that is kept as written, infinite if it is beyond all; any other value as it is. */
export function asNumber(value: unknown): unknown {
  return JSON.isRawJSON(value) ? Number(value.rawJSON) : value;
}

/** The pattern of a number in decimal digits, with or without a sign, a fraction and an exponent. */
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** Characters beyond which a text is no number that anybody means. */
const MAX_CHARACTERS = 1_000;

/** Reads the number that a text spells; null if it is none, or beyond all numbers. All texts of others are read here. */
export function numberOf(text: string): number | null {
  const spelt = text.length > MAX_CHARACTERS ? '' : text.trim();
  const number = DECIMAL.test(spelt) ? Number(spelt) : Number.NaN;
  return Number.isFinite(number) ? number : null;
}

/** Levels that lists and objects may stand in each other. A recursive walk of much deeper ones runs out of stack. */
export const MAX_NESTING = 500;

/**
 * True if a value nests deeper than that. It works without closures and lists of keys: each answer is looked at, and
 * most of its values are plain.
 */
export function isDeep(value: unknown, levels = MAX_NESTING): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) {
      const item: unknown = value[i];
      if (typeof item === 'object' && isDeep(item, levels - 1)) return true;
    }
    return false;
  }
  for (const key in value) {
    const item = (value as Record<string, unknown>)[key];
    if (typeof item === 'object' && isDeep(item, levels - 1)) return true;
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

/** The bit by which brackets differ from braces. */
const BRACE_BIT = 0x20;

/** True if a JSON text nests deeper than a request may, before it is parsed: a parser takes long for such a text. */
export function isDeepJson(text: string, most = MAX_NESTING): boolean {
  let levels = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if ((code | BRACE_BIT) === BRACE_OPEN) levels += 1;
    else if ((code | BRACE_BIT) === BRACE_CLOSE) levels -= 1;
    if (levels > most) return true;
  }
  return false;
}

function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text.charCodeAt(i) !== QUOTE) i += text.charCodeAt(i) === BACKSLASH ? 2 : 1;
  return i;
}

/** Refuses a request in words. */
export const TOO_DEEP = `The request is nested more than ${MAX_NESTING} levels deep.`;
