/** Fields that name an object of a type, where its `id` wasn't selected. */
const NATURAL_KEYS: Readonly<Record<string, readonly string[]>> = {
  Country: ['code'],
  Indicator: ['key'],
  Source: ['key'],
  Ticker: ['exchangeCode', 'symbol'],
};

/**
 * What names an object in a cache: its `id`, or what the gateway would make it of. So an object is one and the same whichever of
 * both an operation selects. Null where it selects neither: then it is part of what it stands in.
 */
export function identityOf(typename: string, object: Readonly<Record<string, unknown>>): string | null {
  if (typeof object.id === 'string') return object.id;
  const key = NATURAL_KEYS[typename]?.map((name) => object[name]);
  if (key === undefined || !key.every((part) => typeof part === 'string')) return null;
  return base64Url(JSON.stringify([typename, ...key]));
}

function base64Url(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
