import type { CountryRecord } from '../../service/records/countries.ts';
import type { ObservationRecord } from '../../service/records/observations.ts';
import type { IndicatorRecord, SourceRecord, TickerRecord } from '../../service/records/reference.ts';
import type { CountryRef, IndicatorRef, SourceRef } from '../schema/context.ts';
import { recordFields } from './fields.ts';

/** Records of the service, by the types whose fields read them. */
export interface RecordsByType {
  readonly Country: CountryRecord;
  readonly Indicator: IndicatorRecord;
  /** The object itself, as `Ticker` is. */
  readonly Observation: ObservationRecord;
  readonly Source: SourceRecord;
  readonly Ticker: TickerRecord;
}

/** Resolvers over what the graph knows of an object, or else loads by its list. */
export const recordReaders = {
  Country: recordFields<CountryRecord, CountryRef>(({ code }, { loaders }) => loaders.country.load(code)),
  Indicator: recordFields<IndicatorRecord, IndicatorRef>(({ key }, { loaders }) =>
    loaders.indicator.load(key),
  ),
  Source: recordFields<SourceRecord, SourceRef>(({ key }, { loaders }) => loaders.source.load(key)),
};
