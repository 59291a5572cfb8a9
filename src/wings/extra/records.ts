import { alpha2In, checkCountry, countryNamedIn } from '../../service/records/countries.ts';
import {
  blockIn,
  eachFound,
  inside,
  integerIn,
  invalid,
  isObject,
  type JsonObject,
  kindOf,
  labelIn,
  numberIn,
  objectIn,
  type Place,
  type RowList,
  rowListIn,
  textIn,
  withLeftOut,
} from '../../service/records/envelope.ts';

/** A policy. No field is specified to be there: a missing one is null. */
export interface PolicyRecord {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly countryCode: string | null;
  readonly wikidataId: string | null;
  readonly title: string | null;
  /** The record's own word, such as `law`. */
  readonly documentType: string | null;
  /** The record's own word, such as `active`. */
  readonly status: string | null;
  /** The day, as sent. */
  readonly publishedAt: string | null;
  /** Key of a source. */
  readonly source: string | null;
  readonly record: JsonObject;
}

export interface PolicyOverviewRecord {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly countryCode: string;
  readonly latestPolicy: PolicyRecord | null;
  readonly activePolicyCount: number | null;
  readonly recentPolicies: readonly PolicyRecord[];
  readonly record: JsonObject;
}

const OVERVIEW = ['latest_policy', 'active_policy_count', 'recent_policies'] as const;

/** @param asked code of the country that was asked for; null if none was */
export function decodePolicies(body: unknown, route: string, asked: string | null): RowList<PolicyRecord> {
  return rowListIn(body, route, (list) => eachFound(list, (row, place) => decodePolicyOf(row, place, asked)));
}

/**
 * Reads the overview of a country's policies. It says of itself that it lacks its latest policy, if something else
 * stands in its place.
 * @param asked code of the country that was asked for, if the body doesn't say
 */
export function decodePolicyOverview(body: unknown, route: string, asked: string): PolicyOverviewRecord {
  const found = objectIn(body, route, OVERVIEW);
  const { value: row, place } = found;
  const { code } = countryNamedIn(found, asked);
  const { latest_policy: latest } = row;
  const overview: PolicyOverviewRecord = {
    countryCode: code,
    latestPolicy: isObject(latest) ? decodePolicy(latest, code) : null,
    activePolicyCount: integerIn(row, 'active_policy_count'),
    recentPolicies:
      row.recent_policies == null
        ? []
        : blockIn(row, place, 'recent_policies', (policy) => decodePolicy(policy, code)),
    record: row,
  };
  if (latest == null || isObject(latest)) return overview;
  const first = invalid(inside(place, 'latest_policy'), `expected object, received ${kindOf(latest)}`);
  return withLeftOut(overview, { count: 1, first });
}

/** @throws Failure if it is one of another country than was asked for */
function decodePolicyOf(row: JsonObject, place: Place, asked: string | null): PolicyRecord {
  const policy = decodePolicy(row, asked);
  checkCountry(policy.countryCode, asked, inside(place, 'country_code'));
  return policy;
}

function decodePolicy(row: JsonObject, asked: string | null): PolicyRecord {
  return {
    countryCode: alpha2In(row, 'country_code', 'country') ?? asked?.toUpperCase() ?? null,
    wikidataId: textIn(row, 'wikidata_id'),
    title: textIn(row, 'title', 'name'),
    documentType: textIn(row, 'document_type'),
    status: textIn(row, 'policy_status', 'status'),
    publishedAt: textIn(row, 'published_at'),
    source: labelIn(row, ['key', 'source'], 'source'),
    record: row,
  };
}

/*
 * The overview of a country's trade. None of the fields of trade records is specified. The fields that are read have
 * the names of the parameters that the routes take; all else is in the record as sent.
 */

export interface TradeOverviewRecord {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly countryCode: string;
  readonly record: JsonObject;
}

export interface TradeFlowRecord {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly reporterCode: string | null;
  /** ISO 3166-1 alpha-2, upper case; of any country of the world. */
  readonly partnerCode: string | null;
  readonly productCode: string | null;
  /** The record's own word, such as `export`. */
  readonly flowType: string | null;
  readonly year: number | null;
  readonly record: JsonObject;
}

export interface TradePartnerRecord {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly partnerCode: string | null;
  readonly record: JsonObject;
}

export interface TradeProductRecord {
  readonly productCode: string | null;
  readonly record: JsonObject;
}

/** @param asked code of the country that was asked for, if the body doesn't say */
export function decodeTradeOverview(body: unknown, route: string, asked: string): TradeOverviewRecord {
  const found = objectIn(body, route, ['country', 'country_code']);
  return { countryCode: countryNamedIn(found, asked).code, record: found.value };
}

/** Filters of a list that was asked for: rows that name something else are none of its. */
interface AskedOfTrade {
  readonly reporterCode?: string | undefined;
  readonly partnerCode?: string | undefined;
}

export function decodeTradeFlows(
  body: unknown,
  route: string,
  asked: AskedOfTrade = {},
): RowList<TradeFlowRecord> {
  return rowListIn(body, route, (list) =>
    eachFound(list, (row, place) => {
      const partnerCode = partnerIn(row);
      checkCountry(partnerCode, asked.partnerCode, inside(place, 'partner_country_code'));
      return {
        reporterCode: reporterIn(row, place, asked),
        partnerCode,
        productCode: productIn(row),
        flowType: textIn(row, 'flow_type'),
        year: yearIn(row),
        record: row,
      };
    }),
  );
}

export function decodeTradePartners(
  body: unknown,
  route: string,
  asked: AskedOfTrade = {},
): RowList<TradePartnerRecord> {
  return rowListIn(body, route, (list) =>
    eachFound(list, (row, place) => {
      reporterIn(row, place, asked);
      return { partnerCode: partnerIn(row), record: row };
    }),
  );
}

export function decodeTradeProducts(
  body: unknown,
  route: string,
  asked: AskedOfTrade = {},
): RowList<TradeProductRecord> {
  return rowListIn(body, route, (list) =>
    eachFound(list, (row, place) => {
      reporterIn(row, place, asked);
      return { productCode: productIn(row), record: row };
    }),
  );
}

/** @throws Failure if it is another one than was asked for */
function reporterIn(row: JsonObject, place: Place, { reporterCode }: AskedOfTrade): string | null {
  const code = alpha2In(row, 'reporter_country_code', 'reporter');
  checkCountry(code, reporterCode, inside(place, 'reporter_country_code'));
  return code;
}

const partnerIn = (row: JsonObject) => alpha2In(row, 'partner_country_code', 'partner');

/** Reads the code of a product: these are often all digits, and may be sent as a number. */
function productIn(row: JsonObject): string | null {
  return textIn(row, 'product_code') ?? numberIn(row, 'product_code')?.toString() ?? null;
}

function yearIn(row: JsonObject): number | null {
  const year = integerIn(row, 'year');
  return year !== null && Math.abs(year) < 10_000 ? year : null;
}
