/**
 * SPDX identifiers of licences that require no more than to include their text and copyright notices. The MPL requires more
 * from those who modify its files, which we don't.
 */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MPL-2.0',
  'Python-2.0',
  'Unlicense',
]);

const isOnList = (licence: string) => ALLOWED.has(licence);

/** The licence in a `package.json`: an SPDX expression, or the JSON of whatever else is there. */
export function licenceIn({ license, licenses }: { license?: unknown; licenses?: unknown }): string {
  const stated = license ?? licenses;
  return typeof stated === 'string' ? stated : (JSON.stringify(stated) ?? 'no licence');
}

/**
 * True if an SPDX expression can be satisfied with allowed licences alone. Nested expressions, and those with exceptions,
 * are not parsed and so not allowed.
 */
export function isAllowed(expression: string): boolean {
  const choices = expression.replace(/^\(([^()]*)\)$/, '$1').split(' OR ');
  return !/[()]/.test(choices.join()) && choices.some((choice) => choice.split(' AND ').every(isOnList));
}
