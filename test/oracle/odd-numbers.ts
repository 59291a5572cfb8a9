import type { Dice } from './dice.ts';
import type { Habits } from './habits.ts';
import type { RowFact } from './world.ts';

/** Tokens that JSON has not: an answer that holds one can't be read. */
const TOKENS = ['NaN', 'Infinity', '-Infinity', '+5', '.5', '5.', '007', '0x10', '1e', 'undefined'];

/** A number as a careless program writes it. */
export function oddNumber(value: number, habit: Habits['oddNumbers'], dice: Dice): string | null {
  switch (habit) {
    case 'none':
      return null;
    case 'spelled':
      return dice.pick(sameAs(value));
    case 'text':
      return JSON.stringify(String(value));
    case 'beyond':
      return dice.pick(['1e999', '-1E400', '9'.repeat(400)]);
    case 'token':
      return dice.pick(TOKENS);
  }
}

/** The same number by other texts. */
function sameAs(value: number): string[] {
  const [whole = '', fraction = ''] = String(value).split('.');
  const digits = `${whole}${fraction}`;
  const scaled = `${digits.replace(/^(-?)0+(?=\d)/, '$1')}e-${fraction.length}`;
  const padded = `${whole}.${fraction}00`;
  const long = `${whole}.${fraction.padEnd(25, '0')}1`;
  const all = [scaled, scaled.replace('e', 'E'), padded, `${value}e0`, `${value}E+00`];
  return value === 0 ? all : [...all, long];
}

/** True if a row breaks the specification, so that it is an error and no figure. */
export function isBad({ raw }: RowFact): boolean {
  return raw !== null && (raw.startsWith('"') || !Number.isFinite(jsonNumber(raw)));
}

/** True if there are such rows. */
export function areNumbersBad({ oddNumbers }: Habits): boolean {
  return oddNumbers !== 'none' && oddNumbers !== 'spelled';
}

/** True if no answer with this row is JSON. */
export function isUnreadable({ raw }: RowFact): boolean {
  return raw !== null && TOKENS.includes(raw);
}

function jsonNumber(raw: string): number {
  try {
    const value: unknown = JSON.parse(raw);
    return typeof value === 'number' ? value : Number.NaN;
  } catch {
    return Number.NaN;
  }
}

/** Stands for an odd number in a body that is still an object. */
const MARK = '\u0002';

/** A row's record with a mark in place of an odd number. */
export function marked({ record, raw }: RowFact): RowFact['record'] {
  return raw === null ? record : { ...record, value: `${MARK}${raw}${MARK}` };
}

/** A body as text, with odd numbers as they are written. */
export function textOf(body: unknown): string {
  const text = JSON.stringify(body);
  // JSON writes the mark as an escape, and quotes within it too.
  return text.replaceAll(/"\\u0002(.*?)\\u0002"/g, (_, raw: string) => raw.replaceAll('\\"', '"'));
}
