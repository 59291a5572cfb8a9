import type { Failure } from '../../errors.ts';
import { alpha2Of } from '../covered-countries.ts';
import { type Found, wholeListIn } from './envelope.ts';
import { inside, invalid, isObject, type JsonObject, missing, type Place, textIn } from './fields.ts';
import { eachFound } from './left-out.ts';

export interface CountryRecord {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly code: string;
  readonly name: string | null;
  /** ISO 3166-1 alpha-3, upper case. */
  readonly iso3: string | null;
  readonly officialName: string | null;
  readonly capital: string | null;
  readonly region: string | null;
  readonly subregion: string | null;
  readonly record: JsonObject;
}

/** The country that a record of another kind is about, as it names it. */
export interface CountryNamed {
  readonly code: string;
  readonly name: string | null;
}

const CODE_NAMES = ['id', 'code', 'country_code', 'iso2', 'alpha2'] as const;
const ALPHA_3_NAMES = ['iso3', 'alpha3'] as const;
const ANY_CODE_NAMES = [...CODE_NAMES, ...ALPHA_3_NAMES];
const NAME_NAMES = ['name', 'country_name'] as const;

export function decodeCountries(body: unknown, route: string): CountryRecord[] {
  return eachFound(wholeListIn(body, route), decodeCountry);
}

function decodeCountry(row: JsonObject, place: Place): CountryRecord {
  return {
    code: alpha2In(row, ...ANY_CODE_NAMES) ?? missingCode(row, place),
    name: textIn(row, ...NAME_NAMES),
    iso3: textIn(row, ...ALPHA_3_NAMES)?.toUpperCase() ?? null,
    officialName: textIn(row, 'official_name'),
    capital: textIn(row, 'capital'),
    region: textIn(row, 'region'),
    subregion: textIn(row, 'subregion'),
    record: row,
  };
}

/** Takes a code of another length: the list is worth more than the one odd entry. */
function missingCode(row: JsonObject, place: Place): string {
  return (textIn(row, ...CODE_NAMES) ?? missing(row, place, CODE_NAMES)).toUpperCase();
}

/**
 * Reads the alpha-2 code, in upper case, in the first of the names that holds one, else in the first that holds the
 * alpha-3 code of a country we know. So a numeric or a three-letter `id` is passed over for a two-letter `iso2`.
 */
export function alpha2In(row: JsonObject, ...names: readonly string[]): string | null {
  let byAlpha3: string | null = null;
  for (const name of names) {
    const text = textIn(row, name);
    const code = text === null ? null : alpha2Of(text);
    if (code !== null && text?.length === 2) return code;
    byAlpha3 ??= code;
  }
  return byAlpha3;
}

/**
 * Reads the country that a record is about: in a block `country`, or in fields of its own.
 *
 * @param asked code of the country that was asked for, if the record doesn't say
 * @throws Failure if the record is about another country
 */
export function countryNamedIn({ value: row, place }: Found<JsonObject>, asked: string): CountryNamed {
  const block = isObject(row.country) ? row.country : row;
  const code = alpha2In(block, 'country_code', 'code', 'id', 'iso2', 'alpha2', 'country');
  const countryCode = asked.toUpperCase();
  if (code !== null && code !== countryCode) throw ofAnother(inside(place, 'country'), countryCode, code);
  return { code: countryCode, name: textIn(block, 'country_name', 'name') };
}

/**
 * Makes sure that a row of a list is of the country that the list was asked for.
 * @param code the country that the row names, under the first of the names
 * @throws Failure if that is another one
 */
export function checkCountry(code: string | null, asked: string | null | undefined, place: Place): void {
  if (asked == null || code === null || code === asked.toUpperCase()) return;
  throw ofAnother(place, asked.toUpperCase(), code);
}

function ofAnother(place: Place, asked: string, code: string): Failure {
  return invalid(place, `expected ${asked}, received ${code}`);
}
