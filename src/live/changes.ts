import { hash } from 'node:crypto';
import type { ObservationChangeRecord } from '../graph/sources.ts';
import { observationIds } from '../resolvers/observation-ids.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';

/** Field that every row has anew each time that its source has run, though the figure may be the same. */
const RETRIEVED = 'retrieved_at';

/**
 * Returns the changes that turn the one rows of a country and metric into the others. A row of another release of the
 * dataset has another identifier and is the same figure all the same: it is revised, if nothing else tells it from one
 * that is gone.
 */
export function changesBetween(
  before: readonly ObservationRecord[],
  now: readonly ObservationRecord[],
): ObservationChangeRecord[] {
  if (before === now) return [];
  const gone = byId(before);
  const changes: ObservationChangeRecord[] = [];
  const added: ObservationRecord[] = [];
  for (const [id, observation] of byId(now)) {
    const old = gone.get(id);
    gone.delete(id);
    if (old === undefined) added.push(observation);
    else if (!isSame(old, observation)) changes.push({ kind: 'REVISED', observation, before: old });
  }
  const released = byFigure([...gone.values()]);
  for (const observation of added) {
    const old = released.get(figureOf(observation));
    if (old === undefined) changes.push({ kind: 'ADDED', observation, before: null });
    else {
      released.delete(figureOf(observation));
      changes.push({ kind: 'REVISED', observation, before: old });
    }
  }
  const revised = new Set(changes.map((change) => change.before));
  for (const old of gone.values()) {
    if (!revised.has(old)) changes.push({ kind: 'REMOVED', observation: old, before: old });
  }
  return changes;
}

/** Returns all of the rows as added, for a reader that knew none. */
export function asAdded(rows: readonly ObservationRecord[]): ObservationChangeRecord[] {
  return [...byId(rows).values()].map((observation) => ({ kind: 'ADDED', observation, before: null }));
}

/** Names the content of rows: rows of one digest have no changes between them. */
export function digestOf(rows: readonly ObservationRecord[]): string {
  const said = Array.from(byId(rows), ([id, row]) => `${id} ${textOf(row)}`).sort();
  return hash('sha256', said.join('\n'), 'base64url');
}

function byId(rows: readonly ObservationRecord[]): Map<string, ObservationRecord> {
  const found = new Map<string, ObservationRecord>();
  for (const [i, id] of observationIds(rows).entries()) {
    const row = rows[i];
    if (row !== undefined) found.set(id, row);
  }
  return found;
}

/**
 * Indexes rows by the fields that tell them apart but for the release; rows that these don't tell apart are left out.
 */
function byFigure(rows: readonly ObservationRecord[]): Map<string, ObservationRecord> {
  const found = new Map<string, ObservationRecord>();
  const several = new Set<string>();
  for (const row of rows) {
    const figure = figureOf(row);
    if (found.has(figure)) several.add(figure);
    found.set(figure, row);
  }
  for (const figure of several) found.delete(figure);
  return found;
}

function figureOf({
  countryCode,
  metricKey,
  period,
  year,
  asOfPeriod,
  locationName,
  source,
}: ObservationRecord) {
  return JSON.stringify([countryCode, metricKey, year, period, asOfPeriod, locationName, source]);
}

function isSame(one: ObservationRecord, other: ObservationRecord): boolean {
  return one.record === other.record || textOf(one) === textOf(other);
}

/** Writes a row as it was sent, in one order of its fields. */
function textOf({ record }: ObservationRecord): string {
  const fields = Object.entries(record).filter(([name]) => name !== RETRIEVED);
  return JSON.stringify(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
}
