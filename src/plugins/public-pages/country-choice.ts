/** The countries of a page, for its reader to choose others: a form that needs no script. */
import { COVERED_COUNTRIES, escaped } from '../../plugin/index.ts';
import type { CountryNames } from './country-names.ts';
import type { PublicDocument } from './public-documents.ts';

export interface CountryChoice {
  /** Of the variable that takes them. */
  readonly name: string;
  readonly isList: boolean;
  readonly isRequired: boolean;
  /** Codes in upper case. */
  readonly chosen: ReadonlySet<string>;
  /** The other parameters of the address, which stay. */
  readonly kept: readonly (readonly [name: string, value: string])[];
}

/** Parameters that name lines, which other countries needn't have. */
const OF_LINES: ReadonlySet<string> = new Set(['picture.focus', 'picture.highlight', 'picture.removed']);

/**
 * Null unless a document takes one list of countries, or no list and one country: of several, none is the one to choose.
 * Null too if a form can't keep the other parameters.
 * @param given parameters of the address
 */
export function countryChoiceOf(
  { variables }: Pick<PublicDocument, 'variables'>,
  values: Readonly<Record<string, unknown>>,
  given: string,
): CountryChoice | null {
  const ofCountries = variables.filter(({ value }) => value.name === 'CountryCode');
  const lists = ofCountries.filter(({ isList }) => isList);
  const [only, ...others] = lists.length > 0 ? lists : ofCountries;
  if (only === undefined || others.length > 0) return null;
  const { name, isList, isRequired, usual } = only;
  const codes = [values[name] ?? usual?.value ?? []].flat().map((code) => String(code).toUpperCase());
  const kept = [...new URLSearchParams(given)].filter(([one]) => one !== name && !OF_LINES.has(one));
  // HTML has no way to write control characters.
  if (kept.some(([, value]) => /\p{Cc}/u.test(value))) return null;
  return { name, isList, isRequired, chosen: new Set(codes), kept };
}

/** @param action relative address of the page, without parameters */
export function countryForm(choice: CountryChoice, action: string, countryName: CountryNames): string {
  const { name, isList, isRequired, chosen, kept } = choice;
  const byName = [...COVERED_COUNTRIES]
    .map((code) => [code, countryName(code)] as const)
    .sort(([, a], [, b]) => a.localeCompare(b, 'en'));
  const hidden = kept.map(
    ([other, value]) => `<input type="hidden" name="${escaped(other)}" value="${escaped(value)}">`,
  );
  const isChosen = (code: string, mark: string) => (chosen.has(code) ? ` ${mark}` : '');
  const boxes = () =>
    byName.map(
      ([code, words]) =>
        `<label><input type="checkbox" name="${escaped(name)}" value="${code}"${isChosen(code, 'checked')}> ${escaped(words)}</label>`,
    );
  const options = () =>
    byName.map(
      ([code, words]) => `<option value="${code}"${isChosen(code, 'selected')}>${escaped(words)}</option>`,
    );
  const field = isList
    ? `<fieldset><legend>Ticked countries are shown${isRequired ? '' : '; if none is, those of this page'}.</legend>${boxes().join('')}</fieldset>`
    : `<label>Country <select name="${escaped(name)}">${options().join('')}</select></label>`;
  return `<details><summary>Choose ${isList ? 'countries' : 'a country'}</summary><form action="${escaped(action)}">${hidden.join('')}${field}<button type="submit">Show</button></form></details>`;
}
