import { wholeListIn } from './envelope.ts';
import { eachIn, isObject, type JsonObject, keyIn, missing, type Place, textIn } from './fields.ts';

export interface CountryRecord {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly code: string;
  readonly name: string;
  /** ISO 3166-1 alpha-3, upper case. */
  readonly iso3: string | null;
  readonly officialName: string | null;
  readonly capital: string | null;
  readonly region: string | null;
  readonly subregion: string | null;
  readonly record: JsonObject;
}

/** What a record of another kind says of the country it is about. */
export interface CountryNamed {
  readonly code: string;
  readonly name: string | null;
}

const CODE_NAMES = ['id', 'code', 'country_code', 'iso2', 'alpha2'] as const;
const NAME_NAMES = ['name', 'country_name'] as const;

export function decodeCountries(body: unknown, route: string): CountryRecord[] {
  const { value, place } = wholeListIn(body, route);
  return eachIn(value, place, decodeCountry);
}

function decodeCountry(row: JsonObject, place: Place): CountryRecord {
  return {
    code: alpha2In(row, ...CODE_NAMES) ?? missingCode(row, place),
    name: keyIn(row, place, ...NAME_NAMES),
    iso3: textIn(row, 'iso3', 'alpha3')?.toUpperCase() ?? null,
    officialName: textIn(row, 'official_name'),
    capital: textIn(row, 'capital'),
    region: textIn(row, 'region'),
    subregion: textIn(row, 'subregion'),
    record: row,
  };
}

/** A code of another length is let through: the list is worth more than the one odd entry. */
function missingCode(row: JsonObject, place: Place): string {
  return (textIn(row, ...CODE_NAMES) ?? missing(row, place, CODE_NAMES)).toUpperCase();
}

/** The first of the names that holds two letters, in upper case; so that a numeric or a three-letter `id` is passed over. */
export function alpha2In(row: JsonObject, ...names: readonly string[]): string | null {
  for (const name of names) {
    const text = textIn(row, name);
    if (text !== null && /^[a-z]{2}$/i.test(text)) return text.toUpperCase();
  }
  return null;
}

/**
 * The country that a record is about: in a block `country`, or in fields of its own.
 *
 * @param asked code of the country that was asked for, where the record doesn't say
 */
export function countryNamedIn(row: JsonObject, asked: string): CountryNamed {
  const block = isObject(row.country) ? row.country : row;
  return {
    code: alpha2In(block, 'country_code', 'code', 'id', 'iso2', 'alpha2', 'country') ?? asked.toUpperCase(),
    name: textIn(block, 'country_name', 'name'),
  };
}
