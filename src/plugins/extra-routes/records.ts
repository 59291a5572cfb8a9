import type { JsonObject } from '../../service/records/envelope.ts';

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
