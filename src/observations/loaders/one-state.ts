import type { ObservationRecord } from '../../service/records/observations.ts';
import type { Outcome } from '../fetch.ts';
import { type Demand, keyOf, nameOfYears } from '../planner/demand.ts';

type Rows = readonly ObservationRecord[];

/** The parts of a row's identifier besides country and metric. */
function figureOf(row: ObservationRecord): string {
  const { year, period, asOfPeriod, locationName, source, datasetVersion, valueStatus, unit } = row;
  return JSON.stringify([year, period, asOfPeriod, locationName, source, datasetVersion, valueStatus, unit]);
}

/** True if two routes agree on a figure: snapshots of a country mostly leave out its bounds. */
function isSameValue(one: ObservationRecord, other: ObservationRecord): boolean {
  const isSame = (key: 'value' | 'estimateLow' | 'estimateHigh') => String(one[key]) === String(other[key]);
  const isSameIfAny = (key: 'estimateLow' | 'estimateHigh') =>
    one[key] === null || other[key] === null || isSame(key);
  return isSame('value') && isSameIfAny('estimateLow') && isSameIfAny('estimateHigh');
}

/** Null for a figure that occurs several times. */
function byFigure(rows: Rows): Map<string, ObservationRecord | null> {
  const records = new Map<string, ObservationRecord | null>();
  for (const row of rows) {
    const figure = figureOf(row);
    const record = records.get(figure);
    records.set(figure, record === undefined || record === row ? row : null);
  }
  return records;
}

/**
 * Makes an operation show each figure in one state. A figure may be cached as the latest and in its series, from
 * answers between which it was revised; both have one identifier, by which clients normalise. What is resolved first
 * stands, unless a later demand accepts nothing that old.
 */
export function createOneState() {
  /** Resolved outcomes that aren't indexed yet. */
  const sets: { readonly demands: readonly Demand[]; readonly outcomes: readonly Outcome[] }[] = [];
  /** By pair; null while all demands are of one kind, so that none can differ. */
  let recordsByPair: Map<string, Map<string, ObservationRecord | null>> | null = null;
  let kind: string | null = null;
  /** Lists of rows of other routes, with what they resolved to: many fields may select the same one. */
  const lists = new Map<Rows, Rows>();
  /** Rows of other routes may lack some fields. */
  const rowsOfOthers = new Set<ObservationRecord>();

  function note(pair: string, rows: Rows): void {
    const ofPair = recordsByPair?.get(pair);
    if (ofPair === undefined) recordsByPair?.set(pair, byFigure(rows));
    else
      for (const [figure, row] of byFigure(rows)) {
        const state = ofPair.get(figure);
        if (state === undefined || (row !== null && isByOthersAlone(state, row))) ofPair.set(figure, row);
      }
  }

  function isByOthersAlone(state: ObservationRecord | null, row: ObservationRecord): boolean {
    return state !== null && rowsOfOthers.has(state) && !rowsOfOthers.has(row);
  }

  function index(): void {
    if (recordsByPair !== null) return;
    recordsByPair = new Map();
    for (const { demands, outcomes } of sets.splice(0))
      for (const [i, { pairKey }] of demands.entries()) {
        const outcome = outcomes[i];
        if (outcome !== undefined && !(outcome instanceof Error)) note(pairKey, outcome);
      }
  }

  function inOneStateOf(pair: string, rows: Rows, isAnyAge: boolean): Rows {
    const ofPair = recordsByPair?.get(pair);
    if (ofPair === undefined || rows.length === 0) {
      note(pair, rows);
      return rows;
    }
    const newRecords = byFigure(rows);
    let isOther = false;
    const states = rows.map((row) => {
      const figure = figureOf(row);
      const state = newRecords.get(figure) === null ? null : ofPair.get(figure);
      if (state == null || state === row || (!isAnyAge && state.fetchedAtMs < row.fetchedAtMs)) return row;
      // With equal values, each keeps the form of its own route.
      if (rowsOfOthers.has(state) !== rowsOfOthers.has(row) && isSameValue(state, row)) return row;
      isOther = true;
      return state;
    });
    note(pair, states);
    return isOther ? states : rows;
  }

  return {
    of(demands: readonly Demand[], outcomes: readonly Outcome[]): readonly Outcome[] {
      const first = demands[0];
      if (first === undefined) return outcomes;
      const { mode, years, maxAgeMs } = first;
      // Ranges may differ from pair to pair within a set.
      const setName = `${mode} ${years === null ? '' : `${nameOfYears(years)} of ${sets.length}`} ${maxAgeMs}`;
      kind ??= setName;
      if (recordsByPair === null && kind === setName) {
        sets.push({ demands, outcomes });
        return outcomes;
      }
      index();
      return outcomes.map((outcome, i) => {
        const demand = demands[i];
        if (outcome instanceof Error || demand === undefined) return outcome;
        return inOneStateOf(demand.pairKey, outcome, demand.maxAgeMs === Number.POSITIVE_INFINITY);
      });
    },
    /** For rows of other routes. */
    ofRows(rows: Rows): Rows {
      const resolved = lists.get(rows);
      if (resolved !== undefined) return resolved;
      index();
      for (const row of rows) rowsOfOthers.add(row);
      const pairs = Map.groupBy(rows, keyOf);
      const states = new Map<ObservationRecord, ObservationRecord>();
      for (const [pair, some] of pairs)
        for (const [i, state] of inOneStateOf(pair, some, true).entries())
          states.set(some[i] as ObservationRecord, state);
      const inOneState = rows.map((row) => states.get(row) ?? row);
      lists.set(rows, inOneState);
      return inOneState;
    },
  };
}

/**
 * Replaces figures by their newest states, among outcomes that came together.
 * @param outcomes by the names of the demands
 */
export function renewTogether(demands: readonly Demand[], outcomes: Map<string, unknown>): void {
  for (const some of Map.groupBy(demands, ({ pairKey }) => pairKey).values()) {
    const lists = some.flatMap(({ name }) => {
      const rows = outcomes.get(name);
      return Array.isArray(rows) ? [{ name, rows: rows as Rows }] : [];
    });
    if (lists.length < 2) continue;
    const newest = new Map<string, ObservationRecord | null>();
    for (const { rows } of lists)
      for (const [figure, row] of byFigure(rows)) {
        const newestRecord = newest.get(figure);
        const isNewer = newestRecord == null || row === null || row.fetchedAtMs > newestRecord.fetchedAtMs;
        if (newestRecord !== null && isNewer) newest.set(figure, row);
      }
    for (const { name, rows } of lists)
      outcomes.set(name, rows.length === 0 ? rows : rows.map((row) => newest.get(figureOf(row)) ?? row));
  }
}
