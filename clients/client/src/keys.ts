import { NODE_TYPES } from './types-of-schema.ts';

/** Fields that name an object of a type, if its `id` wasn't selected. */
const NATURAL_KEYS: Readonly<Record<string, readonly string[]>> = {
  Country: ['code'],
  Indicator: ['key'],
  Source: ['key'],
  Ticker: ['exchangeCode', 'symbol'],
};

/** Types whose objects have an `id`, and their interface. */
export const nodeTypes: ReadonlySet<string | undefined> = new Set(['Node', ...NODE_TYPES]);

/**
 * Identity of an object in a cache: its `id`, or the fields that the gateway would make it of. So an object
 * is one and the same by either of them. Null if an operation selects neither: then it is part of the object
 * that it stands in.
 */
export function identityOf(typename: string, object: Readonly<Record<string, unknown>>): string | null {
  if (typeof object.id === 'string') return object.id;
  const key = NATURAL_KEYS[typename]?.map((name) => object[name]);
  if (key === undefined || !key.every((part) => typeof part === 'string')) return null;
  return base64Url(JSON.stringify([typename, ...key]));
}

/** True if a selection of these fields of a type identifies its object. */
export function isNamedBy(typename: string, fields: ReadonlySet<string>): boolean {
  if (!nodeTypes.has(typename)) return false;
  return fields.has('id') || (NATURAL_KEYS[typename]?.every((name) => fields.has(name)) ?? false);
}

function base64Url(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
