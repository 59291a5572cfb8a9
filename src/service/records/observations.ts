import { z } from 'zod';
import { taken } from '../../shared/async/turns.ts';
import type { Failure } from '../../shared/errors.ts';
import { asNumber, isObject, type JsonObject } from '../../shared/exact-json.ts';
import { areReadable, timeIn } from '../../shared/periods.ts';
import { alpha2In, alpha2Of, checkCountry, countryNamedIn } from './countries.ts';
import {
  blockIn,
  eachOf,
  inside,
  integerIn,
  invalid,
  keyIn,
  kindOf,
  leftOutOf,
  listIn,
  metaIn,
  noList,
  numberIn,
  objectIn,
  type Place,
  recordsOfRows,
  stringIn,
  timeStringIn,
  withLeftOut,
} from './envelope.ts';

const ALPHA_2 = /^[a-z]{2}$/i;

const filled = z.string().min(1, 'expected string, received empty string');

/** The specified fields of a figure, except the names of its country and measure. */
const figure = z.object({
  metric_key: filled,
  year: z.int32(),
  period: filled,
  as_of_period: z.string().nullish(),
  location_name: z.string().nullish(),
  value: z.number(),
  unit: z.string(),
  source: filled,
  value_status: z.string(),
  estimate_low: z.number().nullish(),
  estimate_high: z.number().nullish(),
  dataset_version: z.string().nullish(),
  retrieved_at: z.string().refine((text) => timeIn(text) !== null, 'expected ISO 8601 timestamp'),
});

const observation = figure.extend({
  country_code: z.string().regex(ALPHA_2, 'expected ISO 3166-1 alpha-2 code'),
  country_name: z.string(),
  metric_name: z.string(),
});

const isString = (value: unknown): value is string => typeof value === 'string';
const isFilled = (value: unknown) => isString(value) && value !== '';
const isStringIfAny = (value: unknown) => value === null || value === undefined || isString(value);
const isNumberIfAny = (value: unknown) => value === null || value === undefined || Number.isFinite(value);

/**
 * A cheap check of rows. It accepts nothing that {@link observation} refuses, which looks at the others and says which
 * field is wrong.
 */
function isSound(row: JsonObject): boolean {
  return (
    isString(row.country_code) &&
    ALPHA_2.test(row.country_code) &&
    isString(row.country_name) &&
    isString(row.metric_name) &&
    isFilled(row.metric_key) &&
    Number.isInteger(row.year) &&
    ((row.year as number) | 0) === row.year &&
    isFilled(row.period) &&
    isStringIfAny(row.as_of_period) &&
    isStringIfAny(row.location_name) &&
    Number.isFinite(row.value) &&
    isString(row.unit) &&
    isFilled(row.source) &&
    isString(row.value_status) &&
    isNumberIfAny(row.estimate_low) &&
    isNumberIfAny(row.estimate_high) &&
    isStringIfAny(row.dataset_version) &&
    isString(row.retrieved_at) &&
    timeOf(row.retrieved_at) !== null
  );
}

let [lastText, lastTime]: [string, ReturnType<typeof timeIn>] = ['', null];

/** Memoizes the last time: each is read twice, and most rows have that of the row before. */
function timeOf(text: string): ReturnType<typeof timeIn> {
  if (text !== lastText) [lastText, lastTime] = [text, timeIn(text)];
  return lastTime;
}

/** Converts country codes to alpha-2, and numbers to the nearest of JavaScript. */
function asSpecified(row: unknown): unknown {
  if (!isObject(row)) return row;
  const alpha2 = alpha2Of(stringIn(row, 'country_code') ?? '');
  return { ...withNumbers(row), ...(alpha2 === null ? {} : { country_code: alpha2 }) };
}

function withNumbers(row: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, asNumber(value)]));
}

/** For a row whose country code is no country's; null for others. */
function unknownIn(row: unknown, place: Place) {
  const countryCode = isObject(row) ? stringIn(row, 'country_code') : null;
  if (countryCode === null || alpha2Of(countryCode) !== null) return null;
  const { detail = '' } = invalid(inside(place, 'country_code'), 'expected ISO 3166-1 alpha-2 code').fields;
  return { countryCode, metricKey: stringIn(row as JsonObject, 'metric_key'), detail };
}

export type ObservationList = Readonly<ReturnType<typeof decodeObservations>>;

/** Rows decoded in one step: a fraction of a millisecond, or some milliseconds if none can be read. */
const STEP_ROWS = 256;

/** At once. */
export function decodeObservations(body: unknown, route: string, receivedAt: number) {
  return taken(observationSteps(body, route, receivedAt));
}

/**
 * Reads the figures of a body. A row that breaks the specification becomes an error, and the others stand. A row
 * without a value is no figure, but the service may count it; one of an unknown country is nobody's. `received` counts
 * all of them.
 * @throws Failure if the body holds no list
 */
export function* observationSteps(body: unknown, route: string, receivedAt: number) {
  const { value: sent, place } = listIn(body, route);
  const rows: ObservationRecord[] = [];
  const blanks: ReturnType<typeof blankIn>[] = [];
  const errors: ReturnType<typeof errorOf>[] = [];
  const unknown: NonNullable<ReturnType<typeof unknownIn>>[] = [];
  // Rows that repeat have been checked before.
  const records = recordsOfRows(sent) as (ObservationRecord | undefined)[];
  const fresh: ObservationRecord[] = [];
  let index = -1;
  for (const row of sent) {
    index += 1;
    if (index > 0 && index % STEP_ROWS === 0) yield;
    const before = records[index];
    if (before !== undefined) {
      rows.push({ ...before, fetchedAtMs: receivedAt });
      continue;
    }
    const isRow = isObject(row);
    if (isRow && holdsNoFigure(row)) {
      blanks.push(blankIn(row, index));
      continue;
    }
    const isSpecified = isRow && isSound(row);
    const here = isSpecified ? place : inside(place, index);
    const stray = isSpecified ? null : unknownIn(row, here);
    if (stray !== null) {
      unknown.push(stray);
      continue;
    }
    const parsed = isSpecified ? null : observation.safeParse(asSpecified(row));
    if (parsed?.success === false) errors.push(errorOf(row, failureOf(parsed.error, here)));
    else {
      const fields = parsed?.data ?? (row as z.infer<typeof observation>);
      const { country_code, country_name, metric_name } = fields;
      const code = country_code.toUpperCase();
      const record = recordOf(fields, code, country_name, metric_name, row as JsonObject, receivedAt);
      records[index] = record;
      rows.push(record);
      fresh.push(record);
    }
  }
  hasUnreadable ||= !areReadable(fresh);
  return { rows, blanks, errors, unknown, meta: metaIn(body), received: sent.length };
}

/** The country and measure are null if they can't be read. */
function errorOf(row: unknown, failure: Failure) {
  return {
    countryCode: isObject(row) ? alpha2Of(stringIn(row, 'country_code') ?? '') : null,
    metricKey: isObject(row) ? stringIn(row, 'metric_key') : null,
    failure,
  };
}

/**
 * Reads a figure of a snapshot, which doesn't name its country, nor always its measure.
 * @returns null if the row holds no value
 * @throws Failure naming the field that breaks the specification
 */
function observationIn(
  row: JsonObject,
  place: Place,
  country: ReturnType<typeof countryNamedIn>,
  receivedAt: number,
): ObservationRecord | null {
  if (holdsNoFigure(row)) return null;
  const parsed = figure.safeParse(withNumbers(row));
  if (!parsed.success) throw failureOf(parsed.error, place);
  const metricName = stringIn(row, 'metric_name', 'name');
  const record = recordOf(parsed.data, country.code, country.name, metricName, row, receivedAt);
  hasUnreadable ||= !areReadable([record]);
  return record;
}

/** A row that names no measure either is invalid, and refused later. */
function holdsNoFigure(row: JsonObject): boolean {
  return row.value === null && typeof row.metric_key === 'string';
}

/** @param index place among all rows of the body */
function blankIn(row: JsonObject, index: number) {
  return {
    countryCode: alpha2Of(stringIn(row, 'country_code') ?? '') ?? '',
    metricKey: stringIn(row, 'metric_key') ?? '',
    year: integerIn(row, 'year'),
    index,
  };
}

let hasUnreadable = false;

/** False if all figures that this process has decoded have periods that can be read, so that nobody need check. */
export function mayBeUnreadable(): boolean {
  return hasUnreadable;
}

export type ObservationRecord = Readonly<ReturnType<typeof recordOf>>;

/**
 * @param countryName null if a snapshot doesn't name it
 * @param metricName null if a snapshot doesn't name it
 * @param fetchedAtMs the time at which the service sent it, in milliseconds since the epoch
 */
function recordOf(
  fields: z.infer<typeof figure>,
  countryCode: string,
  countryName: string | null,
  metricName: string | null,
  record: JsonObject,
  fetchedAtMs: number,
) {
  const retrieved = timeOf(fields.retrieved_at);
  return {
    /** ISO 3166-1 alpha-2, upper case. */
    countryCode,
    countryName,
    metricKey: fields.metric_key,
    metricName,
    /** The year that the figure is about, which may differ from the year asked for. */
    year: fields.year,
    /** A year, a quarter, a month or a date, as sent: `src/shared/periods.ts` reads it. */
    period: fields.period,
    /** The point in time at which a stock was taken; null for a flow. */
    asOfPeriod: fields.as_of_period ?? null,
    /** Null for the whole country: a blank is no place. */
    locationName: fields.location_name?.trim() ? fields.location_name : null,
    /** A zero is a real zero. */
    value: fields.value,
    unit: fields.unit,
    /** Key of the body that published the figure. */
    source: fields.source,
    /** The provider's own word. */
    valueStatus: fields.value_status,
    /** True if the status is anything but `reported`. */
    isModelled: fields.value_status.toLowerCase() !== 'reported',
    estimateLow: fields.estimate_low ?? null,
    estimateHigh: fields.estimate_high ?? null,
    datasetVersion: fields.dataset_version ?? null,
    /** RFC 3339 in UTC, with the service's fraction of a second, which may be finer than a `Date` holds. */
    retrievedAt: retrieved?.text ?? fields.retrieved_at,
    fetchedAtMs,
    record,
  };
}

function failureOf({ issues: [issue] }: z.ZodError, row: Place): Failure {
  const place = (issue?.path ?? []).reduce<Place>((at, step) => inside(at, String(step)), row);
  return invalid(place, issue?.message.replace(/^Invalid input: /, '') ?? 'not as specified');
}

const FIELD_NAMES = [
  'country',
  'country_code',
  'observations',
  'fx_rates',
  'commodity_benchmarks',
  'disaster_alerts',
];

export type SignalsRecord = Readonly<ReturnType<typeof decodeSignals>>;

/**
 * A domain without coverage is an empty list. Rows that can't be read are only in `record`, and so is a block that is
 * no list.
 * @param asked code of the country that was asked for, if the body doesn't say
 */
export function decodeSignals(body: unknown, route: string, asked: string, receivedAt: number) {
  const object = objectIn(body, route, FIELD_NAMES);
  const { value: signals, place } = object;
  const country = countryNamedIn(object, asked);
  const block = <T>(name: string, decode: (row: JsonObject, place: Place) => T) =>
    blockIn(signals, place, name, decode);
  const rows = block('observations', (row, at) => {
    checkCountry(alpha2In(row, 'country_code'), asked, inside(at, 'country_code'));
    return observationIn(row, at, country, receivedAt);
  });
  const figures = rows.filter((row) => row !== null);
  return {
    /** ISO 3166-1 alpha-2, upper case. */
    countryCode: country.code,
    observations: withLeftOut(figures, leftOutOf(rows)),
    fxRates: block('fx_rates', decodeFxRate),
    commodityBenchmarks: block('commodity_benchmarks', decodeCommodityBenchmark),
    disasterAlerts: block('disaster_alerts', decodeDisasterAlert),
    record: signals,
  };
}

export type FxRateRecord = Readonly<ReturnType<typeof decodeFxRate>>;

function decodeFxRate(row: JsonObject, place: Place) {
  return {
    sourceCode: stringIn(row, 'source_code'),
    baseCurrency: stringIn(row, 'base_currency'),
    quoteCurrency: stringIn(row, 'quote_currency'),
    /** Upper case. */
    countryCodes: codesIn(row.country_codes, inside(place, 'country_codes')),
    rateDate: stringIn(row, 'rate_date'),
    /** Units of the quote currency for one of the base currency. */
    rate: numberIn(row, 'rate'),
    record: row,
  };
}

function codesIn(sent: unknown, place: Place): string[] {
  const codes = Array.isArray(sent) ? eachOf(sent, place, codeOf) : noList(sent, place, 'array');
  return withLeftOut([...new Set(codes)], leftOutOf(codes));
}

function codeOf(sent: unknown, place: Place): string {
  const code = alpha2In({ code: sent }, 'code');
  if (code !== null) return code;
  throw invalid(place, `expected code of a country, received ${kindOf(sent)}`);
}

export type CommodityBenchmarkRecord = Readonly<ReturnType<typeof decodeCommodityBenchmark>>;

function decodeCommodityBenchmark(row: JsonObject, place: Place) {
  return {
    commodityKey: keyIn(row, place, 'commodity_key'),
    priceValue: numberIn(row, 'price_value'),
    priceDate: stringIn(row, 'price_date'),
    record: row,
  };
}

export type DisasterAlertRecord = Readonly<ReturnType<typeof decodeDisasterAlert>>;

function decodeDisasterAlert(row: JsonObject, place: Place) {
  return {
    eventKey: keyIn(row, place, 'event_key'),
    eventType: stringIn(row, 'event_type'),
    name: stringIn(row, 'name'),
    description: stringIn(row, 'description'),
    alertLevel: stringIn(row, 'alert_level'),
    alertScore: numberIn(row, 'alert_score'),
    severityValue: numberIn(row, 'severity_value'),
    severityText: stringIn(row, 'severity_text'),
    severityUnit: stringIn(row, 'severity_unit'),
    /** As sent. */
    eventFromAt: timeStringIn(row, 'event_from_at'),
    eventToAt: timeStringIn(row, 'event_to_at'),
    reportUrl: stringIn(row, 'report_url'),
    source: stringIn(row, 'source'),
    record: row,
  };
}
