import type { ObservationRecord } from '../service/records/observations.ts';

/** Beyond this all are forgotten; rows keep the strings that they have. */
const MAX_STRINGS = 20_000;

/** Fields that repeat across rows, in our names and the service's. */
const FIELDS = [
  ['countryCode', 'country_code'],
  ['countryName', 'country_name'],
  ['metricKey', 'metric_key'],
  ['metricName', 'metric_name'],
  ['period', 'period'],
  ['asOfPeriod', 'as_of_period'],
  ['unit', 'unit'],
  ['source', 'source'],
  ['valueStatus', 'value_status'],
  ['datasetVersion', 'dataset_version'],
  ['retrievedAt', 'retrieved_at'],
] as const satisfies readonly (readonly [ours: keyof ObservationRecord, sent: string])[];

interface Figures {
  readonly rows: readonly ObservationRecord[];
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/**
 * Makes cached rows share equal strings: the parser creates each anew, and a name, a unit or a time of retrieval
 * occurs in thousands of rows.
 */
export function createStringPool(): (figures: readonly Figures[]) => void {
  const texts = new Map<string, string>();

  function common(text: string): string {
    const pooled = texts.get(text);
    if (pooled !== undefined) return pooled;
    if (texts.size >= MAX_STRINGS) texts.clear();
    texts.set(text, text);
    return text;
  }

  /** Comparing with the previous row, which mostly has the same strings, is faster than a lookup. */
  function share(row: Mutable<ObservationRecord>, before: ObservationRecord | undefined): void {
    const record = row.record as Record<string, unknown>;
    for (const [ours, sent] of FIELDS) {
      const given = row[ours];
      if (given === null) continue;
      const last = before?.[ours];
      const text = given === last ? last : common(given);
      row[ours] = text;
      if (record[sent] === text) record[sent] = text;
    }
  }

  return (figures) => {
    let before: ObservationRecord | undefined;
    for (const { rows } of figures) {
      for (const row of rows) {
        share(row, before);
        before = row;
      }
    }
  };
}
