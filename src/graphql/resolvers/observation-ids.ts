import { madeInTurns } from '../../observations/loaders/in-turns.ts';
import { areCopies, newestOf, periodKeyOf } from '../../observations/planner/newest.ts';
import type { ObservationRecord } from '../../service/records/observations.ts';
import type { PromiseOrValue } from '../../shared/async/promises.ts';
import { numberOf } from '../../shared/exact-json.ts';
import type { BatchInfo } from '../execution/plan.ts';
import type { GraphContext } from '../schema/context.ts';
import { encodeId } from './lists.ts';
import { warnOfStates } from './warned.ts';

/** The parts of a key that identify a figure across revisions, whatever its release or status. */
const LASTING_PARTS = 7;

/**
 * The parts that distinguish a row from the others of its country and metric. They come from the row alone, so that its
 * identifier is the same wherever it appears. The value and the time of retrieval are not among them, since each run of
 * the source may change these.
 */
function partsOfKey(row: ObservationRecord): readonly string[] {
  const { countryCode, metricKey, year, period, asOfPeriod, locationName, source } = row;
  const { datasetVersion, valueStatus, unit } = row;
  const lasting = [
    countryCode,
    metricKey,
    String(year),
    period,
    asOfPeriod ?? '',
    locationName ?? '',
    source,
  ];
  return [...lasting, datasetVersion ?? '', valueStatus, unit];
}

export function observationId(row: ObservationRecord): string {
  return encodeId('Observation', ...partsOfKey(row));
}

/**
 * A unique name for each row of a list: rows that share an identifier, such as duplicates and earlier values of one
 * figure, are numbered in the order of the list.
 */
export function observationNames(rows: readonly ObservationRecord[]): string[] {
  const counts = new Map<string, number>();
  return rows.map((row) => {
    const id = observationId(row);
    const before = counts.get(id) ?? 0;
    counts.set(id, before + 1);
    return before === 0 ? id : encodeId('Observation', ...partsOfKey(row), String(before));
  });
}

/** The identifiers of rows, with a warning of rows that share one but differ. */
export function identified(
  rows: readonly ObservationRecord[],
  _: unknown,
  context: GraphContext,
  info: BatchInfo,
): PromiseOrValue<readonly string[]> {
  const owners = new Map<string, ObservationRecord>();
  return madeInTurns(context, rows, (row, i) => {
    const id = observationId(row);
    const owner = owners.get(id);
    if (owner === undefined) owners.set(id, row);
    // An answer that came later may have revised it.
    else if (owner.fetchedAtMs === row.fetchedAtMs && !areCopies(owner, row))
      warnOfStates(context, () => info.pathOf(i), row);
    return id;
  });
}

/** The row of an identifier, and whether the service has revised the one that was named. */
interface FoundFigure {
  readonly row: ObservationRecord;
  readonly isRevised: boolean;
}

/**
 * Finds the row of an identifier in its series. If the service no longer has that release, status or unit, or spells the
 * period differently, the newest row of the same figure is returned. Identifiers made by earlier versions of the gateway
 * have fewer parts.
 */
export function observationOf(
  key: readonly string[],
  rows: readonly ObservationRecord[],
): FoundFigure | null {
  const lasting = rows.filter((row) => isLike(row, key, LASTING_PARTS));
  const isWhole = key.length > LASTING_PARTS + 2;
  const isEarlier = !isWhole && (key[LASTING_PARTS] ?? '') === '';
  const exact = isEarlier
    ? newestOf(lasting)
    : newestOf(lasting.filter((row) => isLike(row, key, isWhole ? LASTING_PARTS + 3 : LASTING_PARTS + 1)));
  if (exact !== null) return { row: exact, isRevised: false };
  const [, , year = '', period = '', , place = '', source = ''] = key;
  const ofPeriod = periodKeyOf({ year: numberOf(year) ?? Number.NaN, period });
  const isOfFigure = (row: ObservationRecord) =>
    row.source === source &&
    (row.locationName ?? '') === place &&
    String(row.year) === year &&
    periodKeyOf(row) === ofPeriod;
  const row = newestOf(lasting) ?? newestOf(rows.filter(isOfFigure));
  return row === null ? null : { row, isRevised: true };
}

function isLike(row: ObservationRecord, key: readonly string[], parts: number): boolean {
  const ownKey = partsOfKey(row);
  for (let i = 0; i < parts; i += 1) if (ownKey[i] !== key[i]) return false;
  return true;
}
