/*
 * A reader of JSON that loses no digits. JavaScript's numbers hold 15 digits for certain. A number that would lose some
 * is kept as an object that `JSON.stringify` writes as the same digits.
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

/** An object of JSON, unchecked. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** True for an object of JSON: no list, and no number that is kept as it was spelt. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

/** Digits that no number loses. */
const SURE_DIGITS = 15;

/** Matches numbers that may be infinite. */
const LARGE_EXPONENT = /\d[eE][+-]?\d{3}/;

/**
 * Half a surrogate pair becomes U+FFFD, as in UTF-8 that is wrong: strict readers would refuse an answer that repeats it.
 * @throws SyntaxError if the text is not JSON
 */
export function parseExactly(json: string): unknown {
  const text = /\\u[dD]/.test(json) ? withoutHalves(json) : json;
  const mayLose = hasManyDigits(text) || LARGE_EXPONENT.test(text);
  return mayLose ? JSON.parse(text, keepDigits as never) : JSON.parse(text);
}

/** Matches every escape, so that none begins within another. */
const ESCAPES = /\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u[dD][89a-fA-F]..|.)/gs;

function withoutHalves(json: string): string {
  return json.replaceAll(ESCAPES, (spelt) => (spelt.length === '\\ud800'.length ? '\uFFFD' : spelt));
}

/**
 * True if there is a longer run of digits and points than is sure; most texts have none. Such a run covers one of every
 * sixteenth characters, so no others are looked at: a regular expression would take as long as the parser.
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

/** The nearest number, or infinity, for one that is kept as written; any other value as it is. */
export function asNumber(value: unknown): unknown {
  return JSON.isRawJSON(value) ? Number(value.rawJSON) : value;
}

/** A decimal number, with or without a sign, a fraction and an exponent. */
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** A longer text is no number that anybody means. */
const MAX_CHARACTERS = 1_000;

/** Null if the text is no number, or an infinite one. */
export function numberOf(text: string): number | null {
  const spelt = text.length > MAX_CHARACTERS ? '' : text.trim();
  const number = DECIMAL.test(spelt) ? Number(spelt) : Number.NaN;
  return Number.isFinite(number) ? number : null;
}

/** Recursive walks of much deeper values run out of stack. */
export const MAX_NESTING = 500;

/** Works without closures and lists of keys, since each answer is looked at. */
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

/** The bit that makes a brace of a bracket. */
const BRACE_BIT = 0x20;

/** To be called before parsing, which takes long for such a text. */
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

export const TOO_DEEP = `The request is nested more than ${MAX_NESTING} levels deep.`;
