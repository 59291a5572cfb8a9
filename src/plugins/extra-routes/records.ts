import type { JsonObject } from '../../plugin/index.ts';

/** ISO 3166-1 alpha-2, upper case. */
type Alpha2 = string;

/** No field of a policy is specified to be there: a missing one is null. */
export interface PolicyRecord {
  readonly countryCode: Alpha2 | null;
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
  readonly countryCode: Alpha2;
  readonly latestPolicy: PolicyRecord | null;
  readonly activePolicyCount: number | null;
  readonly recentPolicies: readonly PolicyRecord[];
  readonly record: JsonObject;
}

export interface TradeOverviewRecord {
  readonly countryCode: Alpha2;
  readonly record: JsonObject;
}

export interface TradeFlowRecord {
  readonly reporterCode: Alpha2 | null;
  /** Of any country of the world. */
  readonly partnerCode: Alpha2 | null;
  readonly productCode: string | null;
  /** The record's own word, such as `export`. */
  readonly flowType: string | null;
  readonly year: number | null;
  readonly record: JsonObject;
}

export interface TradePartnerRecord {
  readonly partnerCode: Alpha2 | null;
  readonly record: JsonObject;
}

export interface TradeProductRecord {
  readonly productCode: string | null;
  readonly record: JsonObject;
}
