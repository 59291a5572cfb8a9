import { Lexer, Source, TokenKind } from 'graphql';
import { MAX_NESTING } from '../../shared/exact-json.ts';

const OPENING: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/** True if the text of an operation nests deeper than the limit: a parser would run out of stack. */
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
    // The parser words the error, and comes no further than this.
  }
  return false;
}
