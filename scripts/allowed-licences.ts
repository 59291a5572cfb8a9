/**
 * SPDX identifiers of licences that ask for no more than their text and the names of the authors. The MPL asks for more of those
 * who change its files: we take them as they are.
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

/** Licence that a package states: an SPDX expression, or the JSON of anything else in its place. */
export function licenceIn({ license, licenses }: { license?: unknown; licenses?: unknown }): string {
  const told = license ?? licenses;
  return typeof told === 'string' ? told : (JSON.stringify(told) ?? 'no licence');
}

/**
 * True if an SPDX expression leaves a choice of allowed licences alone. Expressions that are nested or have
 * exceptions are not understood, and so not allowed.
 */
export function isAllowed(expression: string): boolean {
  const choices = expression.replace(/^\(([^()]*)\)$/, '$1').split(' OR ');
  return !/[()]/.test(choices.join()) && choices.some((choice) => choice.split(' AND ').every(isOnList));
}
