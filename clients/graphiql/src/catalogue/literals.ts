/**
 * Kinds of names that a text in an operation stands for, as the value of an argument that takes such names.
 */
export type Named = 'indicator' | 'country' | 'source' | 'exchange' | 'category';

/** A string that the cursor stands in. */
export interface Literal {
  readonly named: Named;
  /** The part of it before the cursor. */
  readonly before: string;
}

const BY_ARGUMENT: Readonly<Record<string, Named>> = {
  metricKey: 'indicator',
  metricKeys: 'indicator',
  countryCode: 'country',
  countryCodes: 'country',
  code: 'country',
  codes: 'country',
  exchangeCode: 'exchange',
  category: 'category',
};

/** Of arguments that are called `key`, by the field that takes them. */
const BY_FIELD: Readonly<Record<string, Named>> = {
  indicator: 'indicator',
  indicators: 'indicator',
  source: 'source',
};

/** Characters before the cursor that are looked at: a list of all indicators fits. */
const REACH = 20_000;

/** The items of a list that stand before the one that is written, each a string. */
const ITEMS = String.raw`(?:\[(?:[^\]"]|"[^"\n]*")*)?`;

/** The string of an argument that ends the text before the cursor; null if the cursor stands elsewhere. */
export function literalAt(textBefore: string): Literal | null {
  const text = textBefore.slice(-REACH);
  const match = new RegExp(String.raw`(\w+)\s*:\s*${ITEMS}"([^"\n]*)$`).exec(text);
  if (match === null || isInComment(text)) return null;
  const [, argument = '', before = ''] = match;
  const named = namedBy(argument, text.slice(0, match.index));
  return named === null ? null : { named, before };
}

/**
 * The string of a variable's value that ends the text before the cursor, by the argument that the operation
 * uses the variable for.
 */
export function variableAt(textBefore: string, operation: string): Literal | null {
  const match = new RegExp(String.raw`"(\w+)"\s*:\s*${ITEMS}"([^"\n]*)$`).exec(textBefore.slice(-REACH));
  if (match === null) return null;
  const [, name = '', before = ''] = match;
  const use = new RegExp(String.raw`(\w+)\s*:\s*${ITEMS}\$${name}\b`).exec(
    operation.replace(/\$\w+\s*:/g, (declared) => ' '.repeat(declared.length)),
  );
  if (use === null) return null;
  const named = namedBy(use[1] ?? '', operation.slice(0, use.index));
  return named === null ? null : { named, before };
}

/** @param textBefore the text before the argument, which names its field last */
function namedBy(argument: string, textBefore: string): Named | null {
  const named = BY_ARGUMENT[argument];
  if (named !== undefined) return named;
  if (argument !== 'key' && argument !== 'keys') return null;
  const field = /(\w+)\s*\([^()]*$/.exec(textBefore)?.[1] ?? '';
  return BY_FIELD[field] ?? null;
}

function isInComment(text: string): boolean {
  const line = text.slice(text.lastIndexOf('\n') + 1);
  return /^[^"]*#/.test(line);
}
