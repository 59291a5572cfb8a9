import { createObjectMemo } from '../cache/object-memo.ts';
import { encodeId } from '../graph/ids.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';

/** Number of rows of the same name that stand before a row in its series; not there for the first. */
const ordinals = createObjectMemo<number>('ordinal');

/** The parts that tell a row from all others of its country and metric, but for those that are alike in all of them. */
function keyOf(row: ObservationRecord, ordinal: number): readonly string[] {
  const { countryCode, metricKey, year, period, asOfPeriod, locationName, source, datasetVersion } = row;
  const key = [countryCode, metricKey, String(year), period, asOfPeriod ?? '', locationName ?? '', source];
  if (ordinal > 0) return [...key, datasetVersion ?? '', String(ordinal)];
  return datasetVersion === null ? key : [...key, datasetVersion];
}

/** A key without the release of the dataset, and the part after it: it holds if the service revises the row. */
export const unreleased = (key: readonly string[]): readonly string[] => key.slice(0, LASTING_PARTS);

/** Parts of a key that name no release: from the country to the source. */
const LASTING_PARTS = 7;

/** The identifiers of rows. Rows with the same name are told apart by their order. */
export function observationIds(rows: readonly ObservationRecord[]): string[] {
  const owners = new Map<string, object>();
  return rows.map((row) => {
    let ordinal = ordinals.of(row) ?? 0;
    let id = encodeId('Observation', ...keyOf(row, ordinal));
    // A row may be there twice, as copies of one another: both have the same record object then.
    while ((owners.get(id) ?? row.record) !== row.record) {
      ordinal += 1;
      id = encodeId('Observation', ...keyOf(row, ordinal));
      ordinals.put(row, ordinal);
    }
    owners.set(id, row.record);
    return id;
  });
}

/**
 * The row of an identifier in its series. Identifiers of earlier releases name no release of the dataset: they find the
 * first row that has the rest.
 */
export function observationOf(
  id: string,
  key: readonly string[],
  rows: readonly ObservationRecord[],
): ObservationRecord | null {
  const exact = rows[observationIds(rows).indexOf(id)];
  if (exact !== undefined) return exact;
  const isOfKey = (row: ObservationRecord) =>
    keyOf(row, 0).slice(0, key.length).join('\n') === key.join('\n');
  return rows.find(isOfKey) ?? null;
}
