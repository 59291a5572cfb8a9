import { randomUUID } from 'node:crypto';
import type { Steps } from '../shared/async/turns.ts';
import { excerpt } from '../shared/errors.ts';
import { isDeep } from '../shared/exact-json.ts';
import { UnreadItem } from './records/envelope.ts';

/** Quotes, escapes between them, words, and commas before an end. */
const TOKENS = /\\.|"|[^\s"\\{}[\],:]+|,(?=\s*[}\]])/gs;
const WORD_OF_JSON = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

const MARK = randomUUID();

/** Bound of words that are no JSON, and characters in one step. */
const [MAX_WORDS, STEP_CHARACTERS] = [10_000, 8_192];

/**
 * Parses a body with words that JSON doesn't have, such as `NaN`, `.5` and `01`, or with trailing commas. Such a word
 * makes the innermost object of a list around it an {@link UnreadItem}, and affects nothing else. Its meaning is never
 * guessed.
 * @throws SyntaxError if the rest is no JSON either
 */
export function* parsedLeniently(text: string, parse: (bytes: Buffer) => Steps<unknown>): Steps<unknown> {
  const body = yield* parse(Buffer.from(yield* asJson(text)));
  const read = isDeep(body) ? null : yield* withUnreadItems(body);
  if (read === null || read instanceof UnreadItem) throw new SyntaxError('The text is no JSON.');
  return read;
}

function* asJson(text: string): Steps<string> {
  const parts: string[] = [];
  let [at, stepEnd, isInString] = [0, STEP_CHARACTERS, false];
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (token === '"') isInString = !isInString;
    else if (!isInString && !WORD_OF_JSON.test(token)) {
      parts.push(text.slice(at, index), token === ',' ? '' : JSON.stringify(MARK + excerpt(token)));
      at = index + token.length;
    }
    if (index < stepEnd) continue;
    if (parts.length > 2 * MAX_WORDS) throw new SyntaxError('Too much is no JSON.');
    stepEnd = index + STEP_CHARACTERS;
    yield;
  }
  return parts.join('') + text.slice(at);
}

/** Replaces marks, and objects that hold one, by unread items, and a `meta` that holds one by null. */
function* withUnreadItems(value: unknown): Steps<unknown> {
  if (typeof value === 'string' && value.startsWith(MARK))
    return new UnreadItem(value.slice(MARK.length), {});
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
  const members = value as Record<string, unknown>;
  let problem: string | null = null;
  for (const name in members) {
    const read = yield* withUnreadItems(members[name]);
    members[name] = read instanceof UnreadItem && name === 'meta' ? null : read;
    if (name.startsWith(MARK)) problem ??= name.slice(MARK.length);
    if (members[name] instanceof UnreadItem) problem ??= (read as UnreadItem).problem;
  }
  yield;
  return problem === null || Array.isArray(value) ? value : new UnreadItem(problem, members);
}
