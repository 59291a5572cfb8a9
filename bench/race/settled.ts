import { createHash } from 'node:crypto';

/*
 * From response to response, the service of the race changes the last digit of values and the microseconds of timestamps,
 * and nothing else. So these digits are removed from the actual and from the expected response before they are compared.
 */

/** Values in our schema and in the service's. The last digit is never 0, so it isn't lost when a number is serialized again. */
const VALUE = /("(?:value|area_km2)":-?(?:\d+\.)?\d*)\d(?=[,}\]])/g;

const TIME = /(\.)\d{6}(?=Z")/g;

/** A load generator may have split a character of several bytes. */
const BEYOND_ASCII = /[^\x20-\x7e]+/g;

/** A JSON text without the changing digits. */
export function settled(text: string): string {
  return text.replace(VALUE, '$1').replace(TIME, '$1').replace(BEYOND_ASCII, '');
}

/** A digest of data without the changing digits, whatever the order of members. */
export function digestOf(data: unknown): string {
  return createHash('sha256')
    .update(settled(JSON.stringify(inOrder(data))))
    .digest('base64');
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, inOrder(member)]));
}
