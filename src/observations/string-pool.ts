import type { ObservationRecord } from '../service/records/observations.ts';

/** Texts known at most; past that all are forgotten. Rows keep the texts that they have. */
const MAX_STRINGS = 20_000;

/** Fields whose texts stand in many rows, in our words and in the service's. */
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
 * Lets rows that are about to be cached share the texts that they have in common, in the rows and in the records as sent.
 * The parser makes each text anew, and a name, a unit or a time of retrieval stands in thousands of rows. The rows say
 * the same as before.
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

  /** The row before mostly has the same texts: to compare them takes less than to look them up. */
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
