import { Lexer, Source, type Token, TokenKind } from 'graphql';
import { escapeHtml } from './html.ts';

/**
 * Kind of a piece of code: `k` keyword, `s` text, `n` number, `c` comment, `t` type, `p` property or flag,
 * `v` variable.
 */
type Kind = 'k' | 's' | 'n' | 'c' | 't' | 'p' | 'v';

interface Piece {
  readonly start: number;
  readonly end: number;
  readonly kind: Kind;
}

const KEYWORDS =
  'as async await break case catch class const continue declare default delete do else enum export extends false finally for from function if implements import in instanceof interface let new null of override private public readonly return satisfies static super switch this throw true try type typeof undefined using var void while yield';

/** Patterns of pieces, of which the first that fits counts; groups are named by their kind. */
const SCRIPT = new RegExp(
  [
    '(?<c>//.*|/\\*[\\s\\S]*?\\*/)',
    '(?<s>\'(?:\\\\.|[^\'\\\\\\n])*\'|"(?:\\\\.|[^"\\\\\\n])*"|`(?:\\\\.|[^`\\\\])*`)',
    '(?<n>\\b\\d[\\d_.]*\\b)',
    `(?<k>\\b(?:${KEYWORDS.replaceAll(' ', '|')})\\b(?!:))`,
    '(?<t>\\b[A-Z]\\w*\\b)',
    '(?<p>\\b[\\w$]+(?=\\??:\\s))',
  ].join('|'),
  'g',
);

const PATTERNS: Readonly<Record<string, RegExp>> = {
  ts: SCRIPT,
  tsx: SCRIPT,
  json: /(?<c>\/\/.*)|(?<p>"(?:\\.|[^"\\])*"(?=\s*:))|(?<s>"(?:\\.|[^"\\])*")|(?<n>-?\b\d[\d.eE+-]*\b)|(?<k>\b(?:true|false|null)\b)/g,
  sh: /(?<c>(?<=^|\s)#.*)|(?<s>'[^']*'|"(?:\\.|[^"\\])*")|(?<v>\b[A-Z][A-Z_]+(?==)|\$\w+)|(?<p>(?<=\s)--?[A-Za-z][\w-]*)|(?<k>(?<=^|\n|&& )(?:npm|npx|curl|docker|node)\b)/g,
  yaml: /(?<c>(?<=^|\s)#.*)|(?<p>[\w.-]+(?=:(?:\s|$)))|(?<s>'[^']*'|"[^"]*")|(?<n>\b\d+\b)|(?<k>\b(?:true|false|null)\b)/gm,
  csv: /(?<n>(?<=^|,)-?\d[\d.]*(?=,|$))/gm,
};

/** Other names of the same languages. */
const ALIASES: Readonly<Record<string, string>> = {
  jsonc: 'json',
  typescript: 'ts',
  bash: 'sh',
  yml: 'yaml',
};

const GRAPHQL_KEYWORDS = new Set([
  'query',
  'mutation',
  'subscription',
  'fragment',
  'on',
  'true',
  'false',
  'null',
]);

/** Code as HTML, with its pieces in spans; as it is if the language is none of ours. */
export function highlighted(code: string, language: string): string {
  const pieces =
    language === 'graphql' ? graphqlPieces(code) : patternPieces(code, ALIASES[language] ?? language);
  let html = '';
  let at = 0;
  for (const { start, end, kind } of pieces) {
    html += `${escapeHtml(code.slice(at, start))}<span class="${kind}">${escapeHtml(code.slice(start, end))}</span>`;
    at = end;
  }
  return html + escapeHtml(code.slice(at));
}

function patternPieces(code: string, language: string): Piece[] {
  const pattern = PATTERNS[language];
  if (pattern === undefined) return [];
  return [...code.matchAll(pattern)].flatMap(({ index, 0: text, groups = {} }) => {
    const [kind] = Object.entries(groups).find(([, found]) => found !== undefined) ?? [];
    return kind === undefined ? [] : [{ start: index, end: index + text.length, kind: kind as Kind }];
  });
}

function graphqlPieces(code: string): Piece[] {
  const lexer = new Lexer(new Source(code));
  const first = lexer.token;
  while (lexer.advance().kind !== TokenKind.EOF);
  const pieces: Piece[] = [];
  // Comments are passed over, but stand in the chain of tokens.
  for (let token = first.next; token !== null; token = token.next) {
    const kind = kindOf(token);
    if (kind !== null) pieces.push({ start: token.start, end: token.end, kind });
  }
  return pieces;
}

function kindOf({ kind, value, prev, next }: Token): Kind | null {
  switch (kind) {
    case TokenKind.COMMENT:
      return 'c';
    case TokenKind.STRING:
    case TokenKind.BLOCK_STRING:
      return 's';
    case TokenKind.INT:
    case TokenKind.FLOAT:
      return 'n';
    case TokenKind.DOLLAR:
    case TokenKind.AT:
      return 'v';
    case TokenKind.NAME:
      if (prev?.kind === TokenKind.DOLLAR || prev?.kind === TokenKind.AT) return 'v';
      if (next?.kind === TokenKind.COLON) return 'p';
      if (GRAPHQL_KEYWORDS.has(value)) return 'k';
      return /^[A-Z]/.test(value) ? 't' : null;
    default:
      return null;
  }
}
