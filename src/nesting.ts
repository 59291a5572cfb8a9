import { Lexer, Source, TokenKind } from 'graphql';

/** Levels that lists and objects may stand in each other. A recursive walk of much deeper ones runs out of stack. */
export const MAX_NESTING = 500;

/**
 * Tells if a value nests deeper than that. It works without closures and lists of keys: each answer is looked at, and
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

/** Tells if a JSON text nests deeper than a request may, before it is parsed: a parser takes long for such a text. */
export function isDeepJson(text: string): boolean {
  let levels = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if ((code | BRACE_BIT) === BRACE_OPEN) levels += 1;
    else if ((code | BRACE_BIT) === BRACE_CLOSE) levels -= 1;
    if (levels > MAX_NESTING) return true;
  }
  return false;
}

function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text.charCodeAt(i) !== QUOTE) i += text.charCodeAt(i) === BACKSLASH ? 2 : 1;
  return i;
}

const OPENING: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/** Tells if the text of an operation nests deeper than that. */
export function isDeepOperation(text: unknown): boolean {
  if (typeof text !== 'string' || (text.match(/[{[(]/g)?.length ?? 0) <= MAX_NESTING) return false;
  const lexer = new Lexer(new Source(text));
  let levels = 0;
  try {
    for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
      if (OPENING.has(token.kind)) levels += 1;
      else if (CLOSING.has(token.kind)) levels -= 1;
      if (levels > MAX_NESTING) return true;
    }
  } catch {
    // The parser words the fault, and comes no further than this.
  }
  return false;
}

/** Refuses a request in words. */
export const TOO_DEEP = `The request is nested more than ${MAX_NESTING} levels deep.`;
