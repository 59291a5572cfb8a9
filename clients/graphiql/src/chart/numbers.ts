import { precisionRound } from 'd3-format';

const STEPS = [
  [1e15, 'quadrillion'],
  [1e12, 'trillion'],
  [1e9, 'billion'],
  [1e6, 'million'],
] as const;

/** Digits of a short number that stands alone, of one among others below each other, and the most that a number of JSON has. */
const DIGITS = { usual: 4, inColumn: 5, most: 15 };

/** Sizes beyond which a number is written with its power of ten: it would be a row of zeros. */
const PLAIN = { least: 1e-9, most: 1e18 };

/**
 * A number for an axis: `120 billion`, `44,464`, `0.25`. It has four digits at the most, all that stand before its point, or as
 * many as tell it from its neighbours.
 * @param beside numbers that stand beside it, itself among them
 */
export function shortNumber(value: number, beside: readonly number[] = []): string {
  return joined(shortParts(value, beside));
}

/**
 * Short numbers that stand below each other: those of one word have the same decimals, unless so many digits wouldn't tell
 * them apart.
 */
export function shortColumn(values: readonly number[]): readonly string[] {
  const parts = values.map((value) => shortParts(value, values));
  const aligned = new Map(
    Array.from(
      Map.groupBy(parts, ({ word }) => word),
      ([word, ofWord]) => [word, alignedIn(ofWord)],
    ),
  );
  return parts.map((part) =>
    joined({ ...part, text: aligned.get(part.word)?.get(part.amount) ?? part.text }),
  );
}

/** Returns numbers with the same decimals, by their amounts; null if they are the same then, or nothing is left of one. */
function alignedIn(parts: readonly ShortParts[]): ReadonlyMap<number, string> | null {
  const most = Math.max(...parts.map(({ text }) => decimalsIn(text)));
  const before = Math.max(...parts.map(({ amount }) => String(Math.trunc(Math.abs(amount))).length));
  const decimals = Math.min(most, Math.max(0, DIGITS.inColumn - before));
  const texts = new Map(parts.map(({ amount }) => [amount, withDecimals(amount, decimals)]));
  const isTold = parts.every(
    ({ text, amount }) => !text.includes('e') && (amount === 0 || /[1-9]/.test(texts.get(amount) ?? '')),
  );
  return isTold && new Set(texts.values()).size === texts.size ? texts : null;
}

const joined = ({ text, word }: Pick<ShortParts, 'text' | 'word'>) =>
  word === '' ? text : `${text}\u00a0${word}`;

const withDecimals = (value: number, decimals: number) =>
  value
    .toLocaleString('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
    .replaceAll('-', '−');

const decimalsIn = (text: string) => text.split('.')[1]?.length ?? 0;

/** Two numbers as a range: `1.2 to 3.4 million`. */
export function shortRange(low: number, high: number): string {
  const [from, to] = [low, high].map((value) => shortParts(value, [low, high]));
  if (from === undefined || to === undefined || low === high) return shortNumber(low);
  const isShared = from.word === to.word;
  return `${isShared ? from.text : shortNumber(low, [low, high])} to ${shortNumber(high, [low, high])}`;
}

/** A scale that numbers share, such as that of millions. */
export interface NumberScale {
  readonly step: number;
  /** Of many: `millions`. */
  readonly words: string;
}

/** Returns the scale of the largest of several numbers; null if it is too small for one, or beyond all that have a word. */
export function sharedScale(numbers: readonly number[]): NumberScale | null {
  const most = numbers.reduce((size, value) => Math.max(size, Math.abs(value)), 0);
  const [step, word] = STEPS.find(([least]) => most >= least) ?? [];
  return step === undefined || !isPlain(most) ? null : { step, words: `${word}s` };
}

/** A short number: `1.235` and `million` of an amount of 1.2345. */
interface ShortParts {
  readonly amount: number;
  readonly text: string;
  readonly word: string;
}

function shortParts(value: number, beside: readonly number[]): ShortParts {
  const digits = digitsAmong(value, beside);
  const rounded = Number(value.toPrecision(digits));
  // A number of millions to the last digit is as short without its step.
  const steps = digits > DIGITS.usual ? STEPS.slice(0, -1) : STEPS;
  const [step, word] = steps.find(([least]) => Math.abs(rounded) >= least) ?? [1, ''];
  if (word !== '' && isPlain(rounded))
    return { amount: value / step, text: written(rounded / step, digits), word };
  // Thousands with fewer digits than they have would look exact, and be none.
  const before = Math.min(DIGITS.most, String(Math.trunc(Math.abs(rounded))).length);
  const size = isPlain(rounded) ? Math.max(digits, before) : digits;
  return { amount: value, text: written(Number(value.toPrecision(size)), size), word: '' };
}

function digitsAmong(value: number, beside: readonly number[]): number {
  const apart = beside.reduce((least, other) => {
    const distance = Math.abs(other - value);
    return distance > 0 ? Math.min(least, distance) : least;
  }, Number.POSITIVE_INFINITY);
  // D3 takes the largest number to be a step larger than those that are written; of zero it knows no digits.
  const needed = precisionRound(apart, Math.abs(value) + apart);
  return needed > DIGITS.usual ? Math.min(DIGITS.most, needed) : DIGITS.usual;
}

/**
 * A number as it is, with its thousands told apart.
 * @param decimals that it has at least, so that it stands in line with others
 */
export function fullNumber(value: number, decimals = 0): string {
  const text = written(value, DIGITS.most);
  const writtenDecimals = decimalsIn(text);
  const missing = decimals - writtenDecimals;
  if (missing <= 0 || text.includes('e')) return text;
  return `${text}${writtenDecimals === 0 ? '.' : ''}${'0'.repeat(missing)}`;
}

/** So many things, as in `1 figure` and `1,234 figures`. */
export function counted(count: number, thing: string): string {
  return `${fullNumber(count)} ${thing}${count === 1 ? '' : 's'}`;
}

function written(value: number, digits: number): string {
  const text = isPlain(value)
    ? value.toLocaleString('en', { maximumSignificantDigits: digits })
    : exponential(value, digits);
  return text.replaceAll('-', '−');
}

function exponential(value: number, digits: number): string {
  const rounded = Number(value.toPrecision(digits));
  // The largest numbers would be rounded to none.
  return String(Number.isFinite(rounded) ? rounded : value);
}

function isPlain(value: number): boolean {
  const size = Math.abs(value);
  return size === 0 || (size >= PLAIN.least && size < PLAIN.most);
}

/** A range of years in words: `2024`, `1990–2024`; empty if none is known. */
export function yearsOf(figures: readonly { readonly year: number | null }[]): string {
  const years = figures.flatMap(({ year }) => year ?? []);
  if (years.length === 0) return '';
  const first = years.reduce((a, b) => Math.min(a, b));
  const last = years.reduce((a, b) => Math.max(a, b));
  return first === last ? String(first) : `${first}–${last}`;
}
