import { MAX_NESTING } from '../upstream/nesting.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

/** The bit by which brackets differ from braces. */
const BRACE_BIT = 0x20;

/** Tells if a JSON text nests deeper than a request may, before it is parsed: a parser takes long for such a text. */
export function nestsDeeply(text: string): boolean {
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
