import type { FailureCode } from '../errors.ts';
import type { CountryRecord } from '../upstream/records/countries.ts';
import type { IndicatorRecord } from '../upstream/records/indicators.ts';
import type { TickerRecord } from '../upstream/records/markets.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';
import type { SourceRecord } from '../upstream/records/platform.ts';

/**
 * The object behind a Country, an Indicator or a Source: its key, and all that is known of it without asking. A field
 * that is not known is loaded if it is selected, and fails by itself.
 */
export interface CountryRef {
  /** Upper case. */
  readonly code: string;
  readonly known?: Partial<CountryRecord>;
}

export interface IndicatorRef {
  readonly key: string;
  readonly known?: Partial<IndicatorRecord>;
}

export interface SourceRef {
  readonly key: string;
  readonly known?: Partial<SourceRecord>;
}

/** The age of a figure, as the gateway tells it. */
export interface FreshnessRecord {
  readonly fetchedAt: string;
  readonly stale: boolean;
  readonly reason: FailureCode | null;
}

/** The change of one figure. */
export interface ObservationChangeRecord {
  readonly kind: 'ADDED' | 'REVISED' | 'REMOVED';
  /** The figure as it is now; a removed one, as it was. */
  readonly observation: ObservationRecord;
  /** Null if it was added. */
  readonly before: ObservationRecord | null;
}

/** Changes of figures since the last word on them. */
export interface ObservationChangesRecord {
  readonly changes: readonly ObservationChangeRecord[];
  /** True if these are all figures there are. */
  readonly isWhole: boolean;
  readonly revision: string;
  /** ISO 8601, UTC. */
  readonly at: string;
}

export const countryOf = (record: CountryRecord): CountryRef => ({ code: record.code, known: record });
export const indicatorOf = (record: IndicatorRecord): IndicatorRef => ({ key: record.key, known: record });
export const sourceOf = (record: SourceRecord): SourceRef => ({ key: record.key, known: record });

/** A page of a list, as a connection hands it on. */
export interface Page<Row> {
  readonly nodes: readonly Row[];
  /** Rows of the whole list. */
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** Cursors of the rows, in their order: made only if they are asked for. */
  readonly cursors: () => readonly string[];
}

export interface CountryConnectionRef extends Page<CountryRef> {}
export interface IndicatorConnectionRef extends Page<IndicatorRef> {}
export interface ObservationConnectionRef extends Page<ObservationRecord> {}
export interface TickerConnectionRef extends Page<TickerRecord> {}

/** The place of a page in its list. */
export interface PageInfoRecord {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** Null on a page without rows. */
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

/** One figure divided by another. */
export interface RatioRecord {
  readonly value: number;
  readonly unit: string;
  readonly year: number;
  readonly operands: readonly ObservationRecord[];
}

/** The position of a country's figure among others. */
export interface RankRecord {
  readonly position: number;
  readonly of: number;
  readonly year: number;
}
