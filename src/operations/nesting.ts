import { Lexer, Source, TokenKind } from 'graphql';
import { isDeep, MAX_NESTING } from '../upstream/nesting.ts';
import { isObject } from '../upstream/records/fields.ts';
import type { GatewayRequest } from './requests.ts';

/** Tells if the text of the operation, or any value that comes with it, nests deeper than the limit. */
export function isDeepRequest({ body, search }: Pick<GatewayRequest, 'body' | 'search'>): boolean {
  if (isObject(body)) return isDeep(body) || isDeepText(body.query);
  const params = new URLSearchParams(search);
  return (
    isDeepText(params.get('query')) ||
    ['variables', 'extensions'].some((name) => isDeepJson(params.get(name)))
  );
}

const OPENING: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

function isDeepText(text: unknown): boolean {
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

function isDeepJson(text: string | null): boolean {
  try {
    return isDeep(JSON.parse(text ?? 'null'));
  } catch {
    return false;
  }
}
