import type { ObservationRecord } from '../upstream/records/observations.ts';

/** How many texts are known before all of them are forgotten; rows keep those that they have. */
const MAX_TEXTS = 20_000;

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/**
 * Has rows that are about to be held share the texts that they have in common, in the rows and in what was sent: the parser
 * makes each text anew, and a name, a unit or a time of retrieval stands in thousands of rows. They say the same as before.
 */
export function createCommonTexts(): (rows: readonly ObservationRecord[]) => void {
  const texts = new Map<string, string>();

  function common(text: string): string {
    const known = texts.get(text);
    if (known !== undefined) return known;
    if (texts.size >= MAX_TEXTS) texts.clear();
    texts.set(text, text);
    return text;
  }

  return (rows) => {
    for (const row of rows as readonly Mutable<ObservationRecord>[]) {
      const record = row.record as Record<string, unknown>;
      const place = (name: string, text: string) => {
        if (record[name] === text) record[name] = text;
        return text;
      };
      row.countryCode = place('country_code', common(row.countryCode));
      row.metricKey = place('metric_key', common(row.metricKey));
      row.period = place('period', common(row.period));
      row.unit = place('unit', common(row.unit));
      row.source = place('source', common(row.source));
      row.valueStatus = place('value_status', common(row.valueStatus));
      row.retrievedAt = place('retrieved_at', common(row.retrievedAt));
      if (row.countryName !== null) row.countryName = place('country_name', common(row.countryName));
      if (row.metricName !== null) row.metricName = place('metric_name', common(row.metricName));
      if (row.asOfPeriod !== null) row.asOfPeriod = place('as_of_period', common(row.asOfPeriod));
      if (row.datasetVersion !== null)
        row.datasetVersion = place('dataset_version', common(row.datasetVersion));
    }
  };
}
