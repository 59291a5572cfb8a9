import { countryNamedIn } from './countries.ts';
import { objectIn } from './envelope.ts';
import {
  inside,
  integerIn,
  isObject,
  type JsonObject,
  keyIn,
  labelIn,
  numberIn,
  objectAt,
  type Place,
  textIn,
} from './fields.ts';
import { eachOf, noList } from './left-out.ts';

export interface CountryProfileRecord {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly countryCode: string;
  /** The selected indicators; empty if the service has none. Those that can't be read are in `record` alone. */
  readonly indicators: readonly ProfileIndicatorRecord[];
  readonly record: JsonObject;
}

export interface ProfileIndicatorRecord {
  readonly key: string;
  readonly name: string | null;
  readonly unit: string | null;
  readonly value: number | null;
  readonly year: number | null;
  readonly period: string | null;
  readonly source: string | null;
  /** As sent: an object, or the bare key or figure. */
  readonly record: unknown;
}

const INDICATORS = ['indicators', 'selected_indicators', 'observations'] as const;
const KNOWN = [
  'country',
  'country_code',
  'code',
  'id',
  'iso2',
  'alpha2',
  'name',
  'country_name',
  ...INDICATORS,
];

/** @param asked code of the country that was asked for, if the body doesn't say */
export function decodeProfile(body: unknown, route: string, asked: string): CountryProfileRecord {
  const found = objectIn(body, route, KNOWN);
  const { value: profile, place } = found;
  const field = INDICATORS.find((name) => profile[name] != null) ?? INDICATORS[0];
  return {
    countryCode: countryNamedIn(found, asked).code,
    indicators: indicatorsOf(profile[field], inside(place, field)),
    record: profile,
  };
}

/** Reads lists of objects or of keys, and maps from key to object or figure; a figure that is null is left out. */
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

function indicatorOf(key: string, row: JsonObject, record: unknown): ProfileIndicatorRecord {
  return {
    key,
    name: textIn(row, 'metric_name', 'name'),
    unit: textIn(row, 'unit'),
    value: numberIn(row, 'value'),
    year: integerIn(row, 'year'),
    period: textIn(row, 'period'),
    source: labelIn(row, ['key', 'source_key', 'code'], 'source'),
    record,
  };
}
