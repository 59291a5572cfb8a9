import { alpha2In, checkCountry, countryNamedIn } from './countries.ts';
import { objectIn } from './envelope.ts';
import {
  inside,
  invalid,
  type JsonObject,
  keyIn,
  kindOf,
  numberIn,
  type Place,
  textIn,
  timeTextIn,
} from './fields.ts';
import { blockIn, eachOf, leftOutOf, noList, withLeftOut } from './left-out.ts';
import { type ObservationRecord, observationIn } from './observations.ts';

/**
 * One country across several domains; a domain without coverage is an empty list. Rows that can't be read are in
 * `record` alone, and so is a block that is no list.
 */
export interface SignalsRecord {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly countryCode: string;
  readonly observations: readonly ObservationRecord[];
  readonly fxRates: readonly FxRateRecord[];
  readonly commodityBenchmarks: readonly CommodityBenchmarkRecord[];
  readonly disasterAlerts: readonly DisasterAlertRecord[];
  readonly record: JsonObject;
}

export interface FxRateRecord {
  readonly sourceCode: string | null;
  readonly baseCurrency: string | null;
  readonly quoteCurrency: string | null;
  /** Upper case. */
  readonly countryCodes: readonly string[];
  readonly rateDate: string | null;
  /** Units of the quote currency for one of the base currency. */
  readonly rate: number | null;
  readonly record: JsonObject;
}

export interface CommodityBenchmarkRecord {
  readonly commodityKey: string;
  readonly priceValue: number | null;
  readonly priceDate: string | null;
  readonly record: JsonObject;
}

export interface DisasterAlertRecord {
  readonly eventKey: string;
  readonly eventType: string | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly alertLevel: string | null;
  readonly alertScore: number | null;
  readonly severityValue: number | null;
  readonly severityText: string | null;
  readonly severityUnit: string | null;
  /** As sent. */
  readonly eventFromAt: string | null;
  readonly eventToAt: string | null;
  readonly reportUrl: string | null;
  readonly source: string | null;
  readonly record: JsonObject;
}

const KNOWN = [
  'country',
  'country_code',
  'observations',
  'fx_rates',
  'commodity_benchmarks',
  'disaster_alerts',
];

/** @param asked code of the country that was asked for, if the body doesn't say */
export function decodeSignals(
  body: unknown,
  route: string,
  asked: string,
  receivedAt: number,
): SignalsRecord {
  const found = objectIn(body, route, KNOWN);
  const { value: signals, place } = found;
  const country = countryNamedIn(found, asked);
  const block = <T>(name: string, decode: (row: JsonObject, place: Place) => T) =>
    blockIn(signals, place, name, decode);
  const rows = block('observations', (row, at) => {
    checkCountry(alpha2In(row, 'country_code'), asked, inside(at, 'country_code'));
    return observationIn(row, at, country, receivedAt);
  });
  const figures = rows.filter((row) => row !== null);
  return {
    countryCode: country.code,
    observations: withLeftOut(figures, leftOutOf(rows)),
    fxRates: block('fx_rates', decodeFxRate),
    commodityBenchmarks: block('commodity_benchmarks', decodeCommodityBenchmark),
    disasterAlerts: block('disaster_alerts', decodeDisasterAlert),
    record: signals,
  };
}

function decodeFxRate(row: JsonObject, place: Place): FxRateRecord {
  return {
    sourceCode: textIn(row, 'source_code'),
    baseCurrency: textIn(row, 'base_currency'),
    quoteCurrency: textIn(row, 'quote_currency'),
    countryCodes: codesIn(row.country_codes, inside(place, 'country_codes')),
    rateDate: textIn(row, 'rate_date'),
    rate: numberIn(row, 'rate'),
    record: row,
  };
}

function codesIn(sent: unknown, place: Place): string[] {
  const codes = Array.isArray(sent) ? eachOf(sent, place, codeOf) : noList<string>(sent, place, 'array');
  return withLeftOut([...new Set(codes)], leftOutOf(codes));
}

/** @throws Failure if it is no code of a country */
function codeOf(sent: unknown, place: Place): string {
  const code = alpha2In({ code: sent }, 'code');
  if (code !== null) return code;
  throw invalid(place, `expected code of a country, received ${kindOf(sent)}`);
}

function decodeCommodityBenchmark(row: JsonObject, place: Place): CommodityBenchmarkRecord {
  return {
    commodityKey: keyIn(row, place, 'commodity_key'),
    priceValue: numberIn(row, 'price_value'),
    priceDate: textIn(row, 'price_date'),
    record: row,
  };
}

function decodeDisasterAlert(row: JsonObject, place: Place): DisasterAlertRecord {
  return {
    eventKey: keyIn(row, place, 'event_key'),
    eventType: textIn(row, 'event_type'),
    name: textIn(row, 'name'),
    description: textIn(row, 'description'),
    alertLevel: textIn(row, 'alert_level'),
    alertScore: numberIn(row, 'alert_score'),
    severityValue: numberIn(row, 'severity_value'),
    severityText: textIn(row, 'severity_text'),
    severityUnit: textIn(row, 'severity_unit'),
    eventFromAt: timeTextIn(row, 'event_from_at'),
    eventToAt: timeTextIn(row, 'event_to_at'),
    reportUrl: textIn(row, 'report_url'),
    source: textIn(row, 'source'),
    record: row,
  };
}
