import { randomUUID } from 'node:crypto';
import type { Steps } from '../shared/async/turns.ts';
import { excerpt } from '../shared/errors.ts';
import { MAX_NESTING, parseExactly } from '../shared/exact-json.ts';
import { UnreadItem } from './records/envelope.ts';

/*
 * A second reader for bodies that are no JSON. Services that write JSON by hand, or let their language write it, send
 * numbers that JSON has no word for: `NaN`, `.5`, `01`, `1,5`. Such a thing spoils the smallest object of a list that
 * it stands in and nothing else. Its meaning is never guessed. Quotes and brackets must be sound: if they aren't, the
 * end of a row can't be told, and the body isn't read at all.
 */

/** Characters that are gone through in one step. */
const STEP_CHARACTERS = 8_192;

/** Items of a list that are looked through in one step. */
const STEP_ITEMS = 512;

/** Characters that are parsed in one go. */
const LONG = 131_072;

/** Placeholder in a text for an item of a list, with its number behind it. */
const MARK = randomUUID();

const SPACES = ' \n\r\t';

const SCALAR = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

/** Ends of a word outside of quotes. */
const ENDS_WORD = /["{}[\],]/g;

/** Most changes that a text may need to be JSON: one that needs more was never meant to be any. */
const MAX_EDITS = 10_000;

interface Frame {
  readonly isList: boolean;
  readonly from: number;
  /** The smallest object that is an item of a list and has this in it, or is it; null if there is none. */
  item: Frame | null;
  /** True if its members are about the answer rather than about the things asked for. */
  readonly isEnvelope: boolean;
  expects: 'first' | 'item' | 'colon' | 'value' | 'end';
  commaAt: number;
  /** The name of the member that is read, as written. */
  name: string;
  /** Its members so far that are texts or numbers, as written. */
  readonly members: [name: string, value: string][];
  problem: string | null;
}

interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * Parses a body that is no JSON, with an {@link UnreadItem} for each item of a list that isn't.
 * @param inPieces parses a long text once it is JSON
 * @throws SyntaxError if the rest of it can't be told
 */
export function* parsedLeniently(text: string, inPieces: (bytes: Buffer) => Steps<unknown>): Steps<unknown> {
  const reader = new LenientReader(text);
  const edits = yield* reader.edits();
  const { items } = reader;
  if (edits.length === 0) throw new SyntaxError('The text is no JSON.');
  const parts: string[] = [];
  let at = 0;
  for (const edit of edits) {
    parts.push(text.slice(at, edit.from), edit.text);
    at = edit.to;
  }
  parts.push(text.slice(at));
  const sound = parts.join('');
  yield;
  const parsed = sound.length > LONG ? yield* inPieces(Buffer.from(sound)) : parseExactly(sound);
  yield;
  return yield* placing(parsed, items);
}

/** Does the same as {@link withItems}, in steps for a long list. */
function* placing(value: unknown, items: readonly UnreadItem[]): Steps<unknown> {
  if (!Array.isArray(value)) {
    if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
    const holder = value as Record<string, unknown>;
    for (const name in holder) holder[name] = yield* placing(holder[name], items);
    return value;
  }
  for (let i = 0; i < value.length; i += 1) {
    value[i] = withItems(value[i], items);
    if (i % STEP_ITEMS === STEP_ITEMS - 1) yield;
  }
  return value;
}

/** Puts the items in the places of their marks. */
function withItems(value: unknown, items: readonly UnreadItem[]): unknown {
  if (typeof value === 'string')
    return value.startsWith(MARK) ? items[Number(value.slice(MARK.length))] : value;
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
  const holder = value as Record<string, unknown>;
  for (const name in holder) {
    const held = holder[name];
    if (typeof held === 'string' ? held.startsWith(MARK) : typeof held === 'object') {
      holder[name] = withItems(held, items);
    }
  }
  return value;
}

/** Goes through a text once, and notes the changes that make it JSON. */
class LenientReader {
  readonly #text: string;
  readonly #edits: Edit[] = [];
  readonly #frames: Frame[] = [];
  readonly items: UnreadItem[] = [];
  #at = 0;
  #isOver = false;

  constructor(text: string) {
    this.#text = text;
  }

  /**
   * @returns the changes in the order of the text
   * @throws SyntaxError if the rest of the text can't be told
   */
  *edits(): Steps<readonly Edit[]> {
    let nextStep = STEP_CHARACTERS;
    for (;;) {
      while (SPACES.includes(this.#text[this.#at] ?? '-')) this.#at += 1;
      if (this.#at >= this.#text.length) break;
      this.#step(this.#text[this.#at] ?? '');
      if (this.#at < nextStep) continue;
      nextStep = this.#at + STEP_CHARACTERS;
      if (this.#edits.length > MAX_EDITS) throw new SyntaxError('Too much is no JSON.');
      yield;
    }
    if (!this.#isOver) throw new SyntaxError('The text ends too early.');
    return this.#edits;
  }

  #step(character: string): void {
    const frame = this.#frames.at(-1);
    const isAfterName = frame?.expects === 'colon' || frame?.expects === 'value';
    if (frame !== undefined && frame.expects !== 'value' && character === (frame.isList ? ']' : '}')) {
      this.#close(frame);
    } else if (frame !== undefined && character === ',' && !isAfterName) {
      this.#comma(frame);
    } else if (frame?.expects === 'colon') {
      if (character !== ':') throw new SyntaxError('A name has no value.');
      frame.expects = 'value';
      this.#at += 1;
    } else if (frame?.expects === 'end' || this.#isOver) {
      throw new SyntaxError('Two values have nothing between them.');
    } else if (frame !== undefined && !frame.isList && frame.expects !== 'value') {
      this.#name(frame);
    } else if (character === '{' || character === '[') {
      this.#open(character === '[');
    } else if (']},:'.includes(character)) {
      if (frame === undefined || character === ':' || character === ']')
        throw new SyntaxError('A value is missing.');
      this.#spoilt(this.#at, this.#at);
      this.#after();
    } else {
      this.#scalar(frame);
    }
  }

  #open(isList: boolean): void {
    const holder = this.#frames.at(-1);
    if (this.#frames.length >= MAX_NESTING) throw new SyntaxError('The text is nested too deep.');
    const isMeta =
      holder !== undefined && (this.#frames.length > 1 ? holder.isEnvelope : holder.name === '"meta"');
    const frame: Frame = {
      isList,
      from: this.#at,
      item: holder?.item ?? null,
      isEnvelope: !isList && (holder === undefined ? isWrapper(this.#text) : isMeta),
      expects: 'first',
      commaAt: -1,
      name: '',
      members: [],
      problem: null,
    };
    if (!isList && holder?.isList) frame.item = frame;
    this.#frames.push(frame);
    this.#at += 1;
  }

  #close(frame: Frame): void {
    // A comma before the end says nothing.
    if (frame.expects === 'item') this.#edit(frame.commaAt, frame.commaAt + 1, ' ');
    else if (frame.expects === 'colon') throw new SyntaxError('A value is missing.');
    this.#at += 1;
    this.#frames.pop();
    if (frame.problem !== null) this.#mark(frame.from, this.#at, frame.problem, frame.members);
    this.#after();
  }

  #comma(frame: Frame): void {
    if (frame.expects !== 'end') {
      this.#spoilt(this.#at, this.#at);
      if (!frame.isList) this.#edit(this.#at, this.#at + 1, ' ');
    }
    frame.commaAt = this.#at;
    frame.expects = 'item';
    this.#at += 1;
  }

  #after(): void {
    const holder = this.#frames.at(-1);
    if (holder === undefined) this.#isOver = true;
    else holder.expects = 'end';
  }

  /** Reads the name of a member, or the word in its place. */
  #name(frame: Frame): void {
    if (this.#text[this.#at] === '"') {
      frame.name = this.#quoted();
      if (!isText(frame.name)) throw new SyntaxError('A name is no text.');
      frame.expects = 'colon';
      return;
    }
    const from = this.#at;
    this.#word();
    // A word alone is no member: the comma of `1,5` makes one of the 5.
    this.#spoilt(from, this.#at);
    this.#after();
  }

  #scalar(holder: Frame | undefined): void {
    const from = this.#at;
    const isQuoted = this.#text[from] === '"';
    const written = isQuoted ? this.#quoted() : this.#word();
    const isSound = isQuoted ? isText(written) : SCALAR.test(written);
    if (!isSound) this.#spoilt(from, from + written.length);
    else if (holder !== undefined && holder.item === holder && !isWordOnly(written)) {
      holder.members.push([holder.name, written]);
    }
    this.#after();
  }

  /** Reads a text in quotes, as written; only its end is looked for. */
  #quoted(): string {
    const from = this.#at;
    for (;;) {
      this.#at = this.#text.indexOf('"', this.#at + 1);
      if (this.#at < 0) throw new SyntaxError('A text has no end.');
      let before = this.#at;
      while (this.#text[before - 1] === '\\') before -= 1;
      if ((this.#at - before) % 2 === 0) break;
    }
    this.#at += 1;
    return this.#text.slice(from, this.#at);
  }

  /** Reads a word without quotes, to the end of the value. */
  #word(): string {
    const from = this.#at;
    ENDS_WORD.lastIndex = from;
    this.#at = ENDS_WORD.exec(this.#text)?.index ?? this.#text.length;
    const isEnded = this.#at === this.#text.length || ',]}'.includes(this.#text[this.#at] ?? '');
    if (!isEnded) throw new SyntaxError('A word has no end.');
    return this.#text.slice(from, this.#at).trimEnd();
  }

  /** Notes a part that is no JSON, between two places. */
  #spoilt(from: number, to: number): void {
    const problem = excerpt(this.#text.slice(from, Math.min(to, from + 1_000)).trim()) || 'nothing';
    const holder = this.#frames.at(-1);
    if (holder?.item) holder.item.problem ??= problem;
    else if (holder?.isList) this.#mark(from, to, problem, []);
    else if (holder?.isEnvelope && holder.expects === 'value') this.#edit(from, to, 'null');
    else throw new SyntaxError('The text is no JSON.');
  }

  #mark(from: number, to: number, problem: string, members: Frame['members']): void {
    while ((this.#edits.at(-1)?.from ?? -1) >= from) this.#edits.pop();
    if (this.items.length >= MAX_EDITS) throw new SyntaxError('Too much is no JSON.');
    const legible: Record<string, unknown> = {};
    for (const [name, value] of members) legible[JSON.parse(name)] = JSON.parse(value);
    this.#edit(from, to, `"${MARK}${this.items.length}"`);
    this.items.push(new UnreadItem(problem, legible));
  }

  #edit(from: number, to: number, text: string): void {
    this.#edits.push({ from, to, text });
  }
}

/** Tells if a text is that of an object with its answer under `data`, so that its other members are said of the answer. */
function isWrapper(text: string): boolean {
  return /"data"\s*:/.test(text);
}

function isText(written: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none within texts
  if (!/[\\\u0000-\u001f]/.test(written)) return true;
  try {
    JSON.parse(written);
    return true;
  } catch {
    return false;
  }
}

/** Tells if a scalar is one of the words that JSON has. */
function isWordOnly(written: string): boolean {
  return /^[a-z]/.test(written);
}
