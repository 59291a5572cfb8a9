import type { ObservationRecord } from '../../service/records/observations.ts';
import { mapValue, type PromiseOrValue } from '../../shared/async/promises.ts';
import { type Job, type Steps, timeSliced } from '../../shared/async/turns.ts';
import type { Outcome } from '../fetch.ts';
import { type Demand, keyOfPair } from '../planner/demand.ts';

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

/** Rows that are named in one step: a name takes some microseconds. */
const STEP_ROWS = 100;

/** The name of the figure of each row. */
function* figuresOf(rows: Rows): Steps<readonly string[]> {
  const figures: string[] = [];
  for (const row of rows) {
    figures.push(figureOf(row));
    if (figures.length % STEP_ROWS === 0) yield;
  }
  return figures;
}

/** Null for a figure that occurs several times. */
function byFigure(figures: readonly string[], rows: Rows): Map<string, ObservationRecord | null> {
  const records = new Map<string, ObservationRecord | null>();
  for (const [i, figure] of figures.entries()) {
    const row = rows[i] as ObservationRecord;
    const record = records.get(figure);
    records.set(figure, record === undefined || record === row ? row : null);
  }
  return records;
}

/**
 * Makes an operation show each figure in one state. A figure may be cached as the latest and in its series, from
 * answers between which it was revised; both have one identifier, by which clients normalise. What is resolved first
 * stands, unless a later demand accepts nothing that old. Many rows are resolved in turns.
 */
export class OneState {
  readonly #job: Job;
  /** Outcomes that came while all demands were of one kind, so that none could differ; indexed once others come. */
  readonly #unindexed: { readonly demands: readonly Demand[]; readonly outcomes: readonly Outcome[] }[] = [];
  #kind: string | null = null;
  /** Settles once the first outcomes are indexed; undefined as long as they needn't be. */
  #indexed: { readonly over: PromiseOrValue<void> } | undefined;
  readonly #recordsByPair = new Map<string, Map<string, ObservationRecord | null>>();
  /** Lists of rows, with what they resolved to: many fields may select the same one. */
  readonly #ofAnyAge = new Map<Rows, Rows>();
  readonly #ofBoundedAge = new Map<Rows, Rows>();
  readonly #ofOthers = new Map<Rows, PromiseOrValue<Rows>>();
  /** Rows of other routes may lack some fields. */
  readonly #rowsOfOthers = new Set<ObservationRecord>();

  constructor(job: Job) {
    this.#job = job;
  }

  /** At once unless there is much to resolve. */
  of(demands: readonly Demand[], outcomes: readonly Outcome[]): PromiseOrValue<readonly Outcome[]> {
    const first = demands[0];
    if (first === undefined) return outcomes;
    const { mode, years, maxAgeMs } = first;
    // Ranges may differ from pair to pair within a set, so each such set is a kind of its own.
    const kind = `${mode} ${maxAgeMs} ${years === null ? '' : this.#unindexed.length}`;
    this.#kind ??= kind;
    if (this.#indexed === undefined && this.#kind === kind) {
      this.#unindexed.push({ demands, outcomes });
      return outcomes;
    }
    return this.#onceIndexed(() => this.#resolving(demands, outcomes));
  }

  /** For rows of other routes. */
  ofRows(rows: Rows): PromiseOrValue<Rows> {
    const before = this.#ofOthers.get(rows);
    if (before !== undefined) return before;
    const resolving = this.#onceIndexed(() => this.#resolvingOthers(rows));
    this.#ofOthers.set(rows, resolving);
    if (resolving instanceof Promise) void resolving.then((resolved) => this.#ofOthers.set(rows, resolved));
    return resolving;
  }

  *#resolving(demands: readonly Demand[], outcomes: readonly Outcome[]): Steps<readonly Outcome[]> {
    const resolved: Outcome[] = [];
    for (const [i, outcome] of outcomes.entries()) {
      const demand = demands[i];
      if (outcome instanceof Error || demand === undefined) resolved.push(outcome);
      else
        resolved.push(
          yield* this.#inOneState(demand.pairKey, outcome, demand.maxAgeMs === Number.POSITIVE_INFINITY),
        );
      yield;
    }
    return resolved;
  }

  *#resolvingOthers(rows: Rows): Steps<Rows> {
    for (const row of rows) this.#rowsOfOthers.add(row);
    const states = new Map<ObservationRecord, ObservationRecord>();
    for (const [pair, some] of Map.groupBy(rows, keyOfPair)) {
      const ofPair = yield* this.#inOneState(pair, some, true);
      for (const [i, state] of ofPair.entries()) states.set(some[i] as ObservationRecord, state);
      yield;
    }
    return rows.map((row) => states.get(row) ?? row);
  }

  #onceIndexed<Result>(resolving: () => Steps<Result>): PromiseOrValue<Result> {
    this.#indexed ??= { over: timeSliced(this.#job, this.#indexing()) };
    return mapValue(this.#indexed.over, () => timeSliced(this.#job, resolving()));
  }

  *#indexing(): Steps<void> {
    for (const { demands, outcomes } of this.#unindexed.splice(0))
      for (const [i, { pairKey }] of demands.entries()) {
        const outcome = outcomes[i];
        if (outcome === undefined || outcome instanceof Error) continue;
        this.#note(pairKey, byFigure(yield* figuresOf(outcome), outcome));
        yield;
      }
  }

  *#inOneState(pair: string, rows: Rows, isAnyAge: boolean): Steps<Rows> {
    const lists = isAnyAge ? this.#ofAnyAge : this.#ofBoundedAge;
    const before = lists.get(rows);
    if (before !== undefined || rows.length === 0) return before ?? rows;
    const figures = yield* figuresOf(rows);
    // Another step may have resolved it meanwhile.
    const resolved = lists.get(rows) ?? this.#resolved(pair, rows, figures, isAnyAge);
    lists.set(rows, resolved);
    return resolved;
  }

  #resolved(pair: string, rows: Rows, figures: readonly string[], isAnyAge: boolean): Rows {
    const newRecords = byFigure(figures, rows);
    const ofPair = this.#recordsByPair.get(pair);
    if (ofPair === undefined) {
      this.#note(pair, newRecords);
      return rows;
    }
    let isOther = false;
    const states = rows.map((row, i) => {
      const figure = figures[i] as string;
      const state = newRecords.get(figure) === null ? null : ofPair.get(figure);
      if (state == null || state === row || (!isAnyAge && state.fetchedAtMs < row.fetchedAtMs)) return row;
      // With equal values, each keeps the form of its own route.
      if (this.#rowsOfOthers.has(state) !== this.#rowsOfOthers.has(row) && isSameValue(state, row))
        return row;
      isOther = true;
      return state;
    });
    this.#note(pair, isOther ? byFigure(figures, states) : newRecords);
    return isOther ? states : rows;
  }

  #note(pair: string, records: Map<string, ObservationRecord | null>): void {
    const ofPair = this.#recordsByPair.get(pair);
    if (ofPair === undefined) this.#recordsByPair.set(pair, records);
    else
      for (const [figure, row] of records) {
        const state = ofPair.get(figure);
        if (state === undefined || (row !== null && this.#isByOthersAlone(state, row)))
          ofPair.set(figure, row);
      }
  }

  #isByOthersAlone(state: ObservationRecord | null, row: ObservationRecord): boolean {
    return state !== null && this.#rowsOfOthers.has(state) && !this.#rowsOfOthers.has(row);
  }
}

/**
 * Replaces figures by their newest states, among outcomes that came together.
 * @param outcomes by the names of the demands
 */
export function* renewedTogether(
  demands: readonly Demand[],
  outcomes: ReadonlyMap<string, unknown>,
): Steps<ReadonlyMap<string, Rows>> {
  const renewed = new Map<string, Rows>();
  for (const some of Map.groupBy(demands, ({ pairKey }) => pairKey).values()) {
    yield;
    const lists: { readonly name: string; readonly rows: Rows; readonly figures: readonly string[] }[] = [];
    for (const { name } of some.length < 2 ? [] : some) {
      const rows = outcomes.get(name);
      if (Array.isArray(rows)) lists.push({ name, rows, figures: yield* figuresOf(rows) });
    }
    if (lists.length < 2) continue;
    const newest = new Map<string, ObservationRecord | null>();
    for (const { rows, figures } of lists)
      for (const [figure, row] of byFigure(figures, rows)) {
        const newestRecord = newest.get(figure);
        const isNewer = newestRecord == null || row === null || row.fetchedAtMs > newestRecord.fetchedAtMs;
        if (newestRecord !== null && isNewer) newest.set(figure, row);
      }
    for (const { name, rows, figures } of lists)
      if (rows.length > 0)
        renewed.set(
          name,
          rows.map((row, i) => newest.get(figures[i] as string) ?? row),
        );
  }
  return renewed;
}
