import { isObject, type JsonObject } from '../../shared/exact-json.ts';
import {
  eachLocated,
  eachOf,
  inside,
  integerIn,
  invalid,
  keyIn,
  type Located,
  labelIn,
  missing,
  noList,
  numberIn,
  objectAt,
  objectIn,
  type Place,
  recordsOfRows,
  stringIn,
  wholeListIn,
} from './envelope.ts';

/** ISO 3166-1 alpha-2 and alpha-3 codes of the countries that the service covers: all 54 of Africa. */
const CODES =
  'AO AGO BF BFA BI BDI BJ BEN BW BWA CD COD CF CAF CG COG CI CIV CM CMR CV CPV DJ DJI DZ DZA EG EGY ER ERI ET ETH ' +
  'GA GAB GH GHA GM GMB GN GIN GQ GNQ GW GNB KE KEN KM COM LR LBR LS LSO LY LBY MA MAR MG MDG ML MLI MR MRT MU MUS ' +
  'MW MWI MZ MOZ NA NAM NE NER NG NGA RW RWA SC SYC SD SDN SL SLE SN SEN SO SOM SS SSD ST STP SZ SWZ TD TCD TG TGO ' +
  'TN TUN TZ TZA UG UGA ZA ZAF ZM ZMB ZW ZWE';

const ALPHA_2_BY_ALPHA_3: ReadonlyMap<string, string> = new Map(
  Array.from(CODES.matchAll(/(\w{2}) (\w{3})/g), ([, alpha2 = '', alpha3 = '']) => [alpha3, alpha2]),
);

/**
 * In ISO 3166-1 alpha-2. They save calls: nobody need ask whether these countries exist, nor how long the list of
 * countries is. They are never part of an answer.
 */
export const COVERED_COUNTRIES: ReadonlySet<string> = new Set(ALPHA_2_BY_ALPHA_3.values());

const ALPHA_2 = /^[a-z]{2}$/i;

/** The alpha-2 code, in upper case, of a code in either form and case; null for any other text. */
export function alpha2Of(code: string): string | null {
  if (ALPHA_2.test(code)) return code.toUpperCase();
  return ALPHA_2_BY_ALPHA_3.get(code.trim().toUpperCase()) ?? null;
}

const CODE_NAMES = ['id', 'code', 'country_code', 'iso2', 'alpha2'] as const;
const ALPHA_3_NAMES = ['iso3', 'alpha3'] as const;
const ANY_CODE_NAMES = [...CODE_NAMES, ...ALPHA_3_NAMES];
const NAME_NAMES = ['name', 'country_name'] as const;

export function decodeCountries(body: unknown, route: string): CountryRecord[] {
  const list = wholeListIn(body, route);
  // Records of rows that repeat are taken over.
  const records = recordsOfRows(list.value) as (CountryRecord | undefined)[];
  return eachLocated(list, (row, place, index) => {
    records[index] ??= decodeCountry(row, place);
    return records[index];
  });
}

export type CountryRecord = Readonly<ReturnType<typeof decodeCountry>>;

function decodeCountry(row: JsonObject, place: Place) {
  return {
    /** ISO 3166-1 alpha-2, upper case; or else any other code: the list is worth more than one odd entry. */
    code:
      alpha2In(row, ...ANY_CODE_NAMES) ??
      (stringIn(row, ...CODE_NAMES) ?? missing(row, place, CODE_NAMES)).toUpperCase(),
    name: stringIn(row, ...NAME_NAMES),
    /** ISO 3166-1 alpha-3, upper case. */
    iso3: stringIn(row, ...ALPHA_3_NAMES)?.toUpperCase() ?? null,
    officialName: stringIn(row, 'official_name'),
    capital: stringIn(row, 'capital'),
    region: stringIn(row, 'region'),
    subregion: stringIn(row, 'subregion'),
    record: row,
  };
}

/**
 * Reads the alpha-2 code, in upper case, under the first of the names that has one, otherwise under the first that has
 * the alpha-3 code of a country we know. So a two-letter `iso2` comes before a numeric or three-letter `id`.
 */
export function alpha2In(row: JsonObject, ...names: readonly string[]): string | null {
  let byAlpha3: string | null = null;
  for (const name of names) {
    const text = stringIn(row, name);
    const code = text === null ? null : alpha2Of(text);
    if (code !== null && text?.length === 2) return code;
    byAlpha3 ??= code;
  }
  return byAlpha3;
}

/**
 * Reads the country that a record is about: in a block `country`, or in fields of its own.
 * @param asked code of the country that was asked for, if the record doesn't say
 * @throws Failure if the record is about another country
 */
export function countryNamedIn({ value: row, place }: Located<JsonObject>, asked: string) {
  const block = isObject(row.country) ? row.country : row;
  const code = alpha2In(block, 'country_code', 'code', 'id', 'iso2', 'alpha2', 'country');
  checkCountry(code, asked, inside(place, 'country'));
  return { code: asked.toUpperCase(), name: stringIn(block, 'country_name', 'name') };
}

/**
 * Checks that a row is of the country that its list was asked for.
 * @param code the country that the row names
 * @throws Failure if that is another one
 */
export function checkCountry(code: string | null, asked: string | null | undefined, place: Place): void {
  if (asked == null || code === null || code === asked.toUpperCase()) return;
  throw invalid(place, `expected ${asked.toUpperCase()}, received ${code}`);
}

const INDICATORS = ['indicators', 'selected_indicators', 'observations'] as const;
const FIELD_NAMES = ['country', ...CODE_NAMES, ...NAME_NAMES, ...INDICATORS];

export type CountryProfileRecord = Readonly<ReturnType<typeof decodeProfile>>;

export function decodeProfile(body: unknown, route: string, asked: string) {
  const object = objectIn(body, route, FIELD_NAMES);
  const { value: profile, place } = object;
  const field = INDICATORS.find((name) => profile[name] != null) ?? INDICATORS[0];
  return {
    /** ISO 3166-1 alpha-2, upper case. */
    countryCode: countryNamedIn(object, asked).code,
    /** Empty if the service has none. Indicators that can't be read are only in `record`. */
    indicators: indicatorsOf(profile[field], inside(place, field)),
    record: profile,
  };
}

/** Reads lists of objects or keys, and maps from key to object or figure; a figure that is null is left out. */
function indicatorsOf(sent: unknown, place: Place): ProfileIndicatorRecord[] {
  if (Array.isArray(sent)) {
    return eachOf(sent, place, (item, here) => {
      if (typeof item === 'string' && item !== '') return indicatorOf(item, {}, item);
      const row = objectAt(item, here);
      return indicatorOf(keyIn(row, here, 'metric_key', 'key', 'id'), row, row);
    });
  }
  if (!isObject(sent)) return noList(sent, place, 'array or object');
  return Object.entries(sent)
    .filter(([, item]) => item !== null)
    .map(([key, item]) => indicatorOf(key, isObject(item) ? item : { value: item }, item));
}

export type ProfileIndicatorRecord = Readonly<ReturnType<typeof indicatorOf>>;

function indicatorOf(key: string, row: JsonObject, record: unknown) {
  return {
    key,
    name: stringIn(row, 'metric_name', 'name'),
    unit: stringIn(row, 'unit'),
    value: numberIn(row, 'value'),
    year: integerIn(row, 'year'),
    period: stringIn(row, 'period'),
    source: labelIn(row, ['key', 'source_key', 'code'], 'source'),
    /** As sent: an object, or the bare key or figure. */
    record,
  };
}
