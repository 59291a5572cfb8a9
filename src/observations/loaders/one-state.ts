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

/** Demands of different kinds may bring a figure in different states. */
const SEVERAL_KINDS = 'several kinds';

/**
 * Makes an operation show each figure in one state. A figure may be cached as the latest and in its series, from
 * answers between which it was revised; both have one identifier, by which clients normalise. What is resolved first
 * stands, unless a later demand accepts nothing that old. Many rows are resolved in turns.
 */
export class OneState {
  readonly #job: Job;
  /** Of all demands so far; null before the first. */
  #kind: string | null = null;
  /** Outcomes that came while all demands were of one kind, so that none could differ; resolved once others come. */
  readonly #unresolved: { readonly demands: readonly Demand[]; readonly outcomes: readonly Outcome[] }[] = [];
  /** Settles with what is under way. */
  #last: PromiseOrValue<unknown> = undefined;
  readonly #statesByPair = new Map<string, Map<string, ObservationRecord | null>>();
  /** Lists of rows, with what they resolved to: many fields may select the same one. */
  readonly #ofAnyAge = new Map<Rows, Rows>();
  readonly #ofBoundedAge = new Map<Rows, Rows>();
  readonly #ofOthers = new Map<Rows, Rows>();
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
    const kind = `${mode} ${maxAgeMs} ${years === null ? '' : this.#unresolved.length}`;
    this.#kind ??= kind;
    if (this.#kind === kind) {
      this.#unresolved.push({ demands, outcomes });
      return outcomes;
    }
    return this.#afterOthers(this.#resolving(demands, outcomes));
  }

  /** For rows of other routes. */
  ofRows(rows: Rows): PromiseOrValue<Rows> {
    return this.#afterOthers(this.#resolvingOthers(rows));
  }

  /** One after the other, so that none sees half of what another does. */
  #afterOthers<Result>(resolving: Steps<Result>): PromiseOrValue<Result> {
    this.#kind = SEVERAL_KINDS;
    const result = mapValue(this.#last, () => timeSliced(this.#job, this.#afterUnresolved(resolving)));
    this.#last = result;
    return result;
  }

  *#afterUnresolved<Result>(resolving: Steps<Result>): Steps<Result> {
    for (const { demands, outcomes } of this.#unresolved.splice(0)) yield* this.#resolving(demands, outcomes);
    return yield* resolving;
  }

  *#resolving(demands: readonly Demand[], outcomes: readonly Outcome[]): Steps<readonly Outcome[]> {
    const resolved: Outcome[] = [];
    for (const [i, { pairKey, maxAgeMs }] of demands.entries()) {
      const outcome = outcomes[i] as Outcome;
      const isAnyAge = maxAgeMs === Number.POSITIVE_INFINITY;
      resolved.push(outcome instanceof Error ? outcome : yield* this.#inOneState(pairKey, outcome, isAnyAge));
      yield;
    }
    return resolved;
  }

  *#resolvingOthers(rows: Rows): Steps<Rows> {
    const before = this.#ofOthers.get(rows);
    if (before !== undefined) return before;
    for (const row of rows) this.#rowsOfOthers.add(row);
    const states = new Map<ObservationRecord, ObservationRecord>();
    for (const [pair, some] of Map.groupBy(rows, keyOfPair)) {
      const ofPair = yield* this.#inOneState(pair, some, true);
      for (const [i, state] of ofPair.entries()) states.set(some[i] as ObservationRecord, state);
      yield;
    }
    const resolved = rows.map((row) => states.get(row) ?? row);
    this.#ofOthers.set(rows, resolved);
    return resolved;
  }

  *#inOneState(pair: string, rows: Rows, isAnyAge: boolean): Steps<Rows> {
    const lists = isAnyAge ? this.#ofAnyAge : this.#ofBoundedAge;
    const before = lists.get(rows);
    if (before !== undefined || rows.length === 0) return before ?? rows;
    const resolved = this.#resolved(pair, rows, yield* figuresOf(rows), isAnyAge);
    lists.set(rows, resolved);
    return resolved;
  }

  #resolved(pair: string, rows: Rows, figures: readonly string[], isAnyAge: boolean): Rows {
    const records = byFigure(figures, rows);
    const states = this.#statesByPair.get(pair);
    const resolved = rows.map((row, i) => {
      const figure = figures[i] as string;
      const state = records.get(figure) === null ? null : states?.get(figure);
      if (state == null || (!isAnyAge && state.fetchedAtMs < row.fetchedAtMs)) return row;
      // With equal values, each keeps the form of its own route.
      const isOfOtherRoute = this.#isOfOthers(state) !== this.#isOfOthers(row);
      return isOfOtherRoute && isSameValue(state, row) ? row : state;
    });
    const isAsItCame = resolved.every((row, i) => row === rows[i]);
    this.#note(pair, isAsItCame ? records : byFigure(figures, resolved));
    return isAsItCame ? rows : resolved;
  }

  #note(pair: string, records: Map<string, ObservationRecord | null>): void {
    const states = this.#statesByPair.get(pair);
    if (states === undefined) this.#statesByPair.set(pair, records);
    else
      for (const [figure, row] of records) {
        const state = states.get(figure);
        const isFuller = state != null && row !== null && this.#isOfOthers(state) && !this.#isOfOthers(row);
        if (state === undefined || isFuller) states.set(figure, row);
      }
  }

  /** Then it may lack some fields. */
  #isOfOthers(row: ObservationRecord): boolean {
    return this.#rowsOfOthers.has(row);
  }
}

/**
 * Replaces figures by their newest states, among outcomes that came together.
 * @param outcomes by the names of the demands
 */
export function* renewedTogether(
  demands: readonly Demand[],
  outcomes: ReadonlyMap<string, Outcome>,
): Steps<ReadonlyMap<string, Rows>> {
  const renewed = new Map<string, Rows>();
  for (const ofPair of Map.groupBy(demands, keyOfPair).values()) {
    yield;
    if (ofPair.length < 2) continue;
    const lists: { readonly name: string; readonly rows: Rows; readonly figures: readonly string[] }[] = [];
    for (const { name } of ofPair) {
      const rows = outcomes.get(name) ?? [];
      if (!(rows instanceof Error)) lists.push({ name, rows, figures: yield* figuresOf(rows) });
    }
    const newest = new Map<string, ObservationRecord | null>();
    for (const { rows, figures } of lists)
      for (const [figure, row] of byFigure(figures, rows)) {
        const state = newest.get(figure);
        // Null, for one that occurs several times, stays.
        const isNewer = state == null || row === null || row.fetchedAtMs > state.fetchedAtMs;
        if (state !== null && isNewer) newest.set(figure, row);
      }
    for (const { name, rows, figures } of lists) {
      const states = rows.map((row, i) => newest.get(figures[i] as string) ?? row);
      if (states.some((state, i) => state !== rows[i])) renewed.set(name, states);
    }
  }
  return renewed;
}
