import type { CountryRecord } from '../upstream/records/countries.ts';
import type { IndicatorRecord } from '../upstream/records/indicators.ts';
import type { SourceRecord } from '../upstream/records/platform.ts';

/**
 * What stands behind a Country, an Indicator or a Source: its key, and whatever is known of it without asking. A
 * field that is not known is loaded when it is selected, and fails by itself.
 */
export interface CountrySource {
  /** Upper case. */
  readonly code: string;
  readonly known?: Partial<CountryRecord>;
}

export interface IndicatorSource {
  readonly key: string;
  readonly known?: Partial<IndicatorRecord>;
}

export interface SourceSource {
  readonly key: string;
  readonly known?: Partial<SourceRecord>;
}

export const countryOf = (record: CountryRecord): CountrySource => ({ code: record.code, known: record });
export const indicatorOf = (record: IndicatorRecord): IndicatorSource => ({ key: record.key, known: record });
export const sourceOf = (record: SourceRecord): SourceSource => ({ key: record.key, known: record });
