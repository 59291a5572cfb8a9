import type { ObservationRecord } from '../../src/service/records/observations.ts';

/** A figure of a year, as decoded. */
export function figure(given: Partial<ObservationRecord> = {}): ObservationRecord {
  return {
    countryCode: 'KE',
    countryName: 'Kenya',
    metricKey: 'm',
    metricName: 'M',
    year: 2020,
    period: '2020',
    asOfPeriod: null,
    locationName: null,
    value: 1,
    unit: 'persons',
    source: 's',
    valueStatus: 'reported',
    isModelled: false,
    estimateLow: null,
    estimateHigh: null,
    datasetVersion: null,
    retrievedAt: '2026-01-01T00:00:00Z',
    fetchedAtMs: 0,
    record: {},
    ...given,
  };
}
