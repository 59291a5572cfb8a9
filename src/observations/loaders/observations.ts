import type { ObservationRecord } from '../../service/records/observations.ts';
import { mapValue, type PromiseOrValue } from '../../shared/async/promises.ts';
import { eachInTurns } from '../../shared/async/turns.ts';
import { type AskedFigures, cameFigures, type OutcomeOf } from '../absences.ts';
import { FEW } from '../cached.ts';
import type { CachedPair } from '../cached-pairs.ts';
import type { Outcome } from '../fetch.ts';
import {
  type Demand,
  demandFor,
  demandsFor,
  type Mode,
  type Pair,
  type YearRange,
} from '../planner/demand.ts';
import { type Latest, latestIn } from '../planner/latest.ts';
import { sourcesOf } from '../planner/newest.ts';
import type { Doubts } from './doubts.ts';
import { createOperandLoader, type OperandLoader } from './operands.ts';
import { type FiguresMeans, type National, OperationOutcomes } from './outcomes.ts';

/** Rows of every country with every metric. */
type WantedRows = {
  readonly mode: Mode;
  readonly countryCodes: readonly string[];
  readonly metricKeys: readonly string[];
  readonly maxAgeMs: number;
  /** True if the latest row of the whole country is wanted, though that of a place may be newer. */
  readonly isNational?: boolean;
  /** Null or omitted: all years of series. */
  readonly years?: YearRange | null;
};

interface Prefetched {
  readonly countryCodes: readonly string[];
  readonly rows: PromiseOrValue<readonly National[]>;
}

/** Finds the latest national rows. */
function createNationals({ effort }: FiguresMeans, noted: Noted, outcomes: OperationOutcomes) {
  function nationalIn(outcome: Outcome): National {
    if (outcome instanceof Error) return outcome;
    const [only] = outcome;
    // Of one row, as most outcomes are, there is nothing to decide.
    if (only !== undefined && outcome.length === 1) return only.locationName === null ? only : null;
    return noted(latestIn(outcome, { scope: 'NATIONAL' }));
  }

  return (demands: readonly Demand[]): PromiseOrValue<readonly National[]> =>
    outcomes.of(demands, (came) => {
      const nationals = came.map(nationalIn);
      // If the newest row is of a place, the newest national one is in the series.
      const isOfPlace = (i: number) => nationals[i] === null && Array.isArray(came[i]) && came[i].length > 0;
      const ofPlaces = demands.filter((_, i) => isOfPlace(i));
      if (ofPlaces.length === 0) return nationals;
      effort.want(ofPlaces.length);
      const wanted = ofPlaces.map(({ countryCode, metricKey, maxAgeMs }) =>
        demandFor('series', countryCode, metricKey, maxAgeMs),
      );
      return outcomes.of(wanted, (series) => {
        const further = series.map(nationalIn).values();
        return nationals.map((national, i) => (isOfPlace(i) ? (further.next().value ?? null) : national));
      });
    });
}

function createChoice({ sending, figures: { several } }: FiguresMeans) {
  /** Sources of the figures of one period among which our own rule chose: made by the first. */
  let ruled: Map<ObservationRecord, readonly string[]> | undefined;

  /** Passes on what our own rule chose, and notes the other figures of that period. */
  function noted({ figure, several: alike }: Latest): ObservationRecord | null {
    if (figure !== null && alike.length > 1) {
      ruled ??= new Map();
      ruled.set(figure, sourcesOf(alike));
    }
    return figure;
  }

  return {
    noted,
    newest: (rows: readonly ObservationRecord[]) => noted(latestIn(rows)),
    hasSeveral: () => ruled !== undefined || !several.isEmpty,
    /**
     * Sources of the figures of one period among which a latest one was chosen, by our own rule or the service; null
     * if it stands alone.
     */
    severalOf(row: ObservationRecord) {
      const sources = ruled?.get(row);
      if (sources !== undefined) return { sources, isByRule: true };
      const cachedSources = several.sourcesOf(sending.caller.tenant, row);
      return cachedSources === null ? null : { sources: cachedSources, isByRule: false };
    },
  };
}

type Noted = ReturnType<typeof createChoice>['noted'];

export type ObservationLoader = ReturnType<typeof createObservationLoader>;

export function createObservationLoader(parts: FiguresMeans, doubts: Doubts) {
  const { effort, sending, batchGate, figures } = parts;
  const { noted, ...choice } = createChoice(parts);
  let countedAhead = 0;
  /** National rows by `nameOfWanted`, until a field wants exactly these: those of the last prefetch. */
  const prefetched = new Map<string, Prefetched>();
  const outcomes = new OperationOutcomes(parts, doubts);

  /** Synchronous, unless there are many. */
  function demandsOf(wanted: WantedRows, isAhead = false): PromiseOrValue<readonly Demand[]> {
    const { mode, countryCodes, metricKeys, maxAgeMs, years } = wanted;
    const count = countryCodes.length * metricKeys.length;
    // Prefetched ones are counted already.
    const counted = isAhead ? 0 : Math.min(count, countedAhead);
    countedAhead += isAhead ? count : -counted;
    effort.want(count - counted);
    if (count <= FEW) return demandsFor(mode, countryCodes, metricKeys, maxAgeMs, years);
    const demands: Demand[] = [];
    const demanding = eachInTurns(sending.caller, countryCodes, (code) => {
      demands.push(...demandsFor(mode, [code], metricKeys, maxAgeMs, years));
    });
    return demanding instanceof Promise ? batchGate.closeDuring(demanding).then(() => demands) : demands;
  }

  /** The service may send several rows as the latest. */
  const onlyLatest = (rows: readonly ObservationRecord[]) =>
    rows.length < 2 ? rows : [choice.newest(rows) as ObservationRecord];

  const nationalsOf = createNationals(parts, noted, outcomes);
  let operands: OperandLoader | undefined;

  return {
    /**
     * Rows of every country and metric, in their order. Synchronous if all are cached.
     * @param choose picks the wanted rows of a pair; if years are wanted, rows of other years may be among them
     */
    rows(
      wanted: WantedRows,
      choose: (rows: readonly ObservationRecord[]) => readonly ObservationRecord[] = (rows) => rows,
    ): PromiseOrValue<readonly ObservationRecord[]> {
      sending.bill.naive += 1;
      const { metricKeys } = wanted;
      const chosenIn = wanted.mode === 'latest' ? onlyLatest : (rows: readonly ObservationRecord[]) => rows;
      const rowsIn = (came: readonly Outcome[]) => rowsOf(came, metricKeys, (rows) => choose(chosenIn(rows)));
      return mapValue(demandsOf(wanted), (demands) => {
        if (!wanted.isNational) return outcomes.of(demands, rowsIn);
        return mapValue(nationalsOf(demands), (nationals) => rowsIn(nationals.map(outcomeOf)));
      });
    },
    /** In order of the countries: null for none, an Error if that can't be known. */
    nationals(
      countryCodes: readonly string[],
      metricKey: string,
      maxAgeMs: number,
    ): PromiseOrValue<readonly National[]> {
      sending.bill.naive += countryCodes.length;
      const wanted = { mode: 'latest', countryCodes, metricKeys: [metricKey], maxAgeMs } as const;
      const name = nameOfWanted(wanted);
      const ahead = prefetched.get(name);
      if (ahead === undefined || !areEqual(ahead.countryCodes, countryCodes))
        return mapValue(demandsOf(wanted), nationalsOf);
      prefetched.delete(name);
      countedAhead -= countryCodes.length;
      return ahead.rows;
    },
    /**
     * Asks for rows that `rows` or `nationals` will probably be asked for.
     * @returns settles once they have come, and never rejects; undefined if they are at hand
     */
    prefetch(wanted: WantedRows): Promise<unknown> | undefined {
      const demands = demandsOf(wanted, true);
      let coming: PromiseOrValue<unknown>;
      if (wanted.isNational) {
        const rows = mapValue(demands, nationalsOf);
        prefetched.set(nameOfWanted(wanted), { countryCodes: wanted.countryCodes, rows });
        coming = rows;
      } else coming = mapValue(demands, (some) => outcomes.of(some, asTheyAre));
      // The field that wants them reports the error.
      return coming instanceof Promise ? coming.catch(() => {}) : undefined;
    },
    ...choice,
    inOneState(rows: readonly ObservationRecord[]): PromiseOrValue<readonly ObservationRecord[]> {
      const resolved = outcomes.oneState.ofRows(rows);
      return resolved instanceof Promise ? batchGate.closeDuring(resolved) : resolved;
    },
    /** Asks for nothing. */
    outcomeOf: ((asked) => cameFigures(outcomes.outcomeOf(demandOf(asked)))) satisfies OutcomeOf,
    came: () => outcomes.came(),
    /** Calls back with each pair of which anything is cached. Asks for nothing. */
    readCached: (pairs: readonly Pair[], each: (pair: Pair, cached: CachedPair) => void) =>
      figures.cachedPairs(sending.caller, pairs, each),
    /** Resolves all figures together, the newest of each. Call before any is asked for. */
    settleTogether(): void {
      outcomes.isTogether = true;
    },
    /** Made for the first field that compares figures: most operations have none. */
    operands(): OperandLoader {
      operands ??= createOperandLoader(
        { caller: sending.caller, batchGate, effort },
        (demands) => outcomes.of(demands, asTheyAre),
        nationalsOf,
      );
      return operands;
    },
  };
}

const demandOf = ({ countryCode, metricKey, mode, years, maxAgeMs }: AskedFigures) =>
  demandFor(mode, countryCode, metricKey, maxAgeMs, years);

/**
 * The rows of several countries by these metrics, in their order.
 * @throws Error the first one among the outcomes
 */
function rowsOf(
  came: readonly Outcome[],
  metricKeys: readonly string[],
  choose: (rows: readonly ObservationRecord[]) => readonly ObservationRecord[],
): readonly ObservationRecord[] {
  const rows: ObservationRecord[] = [];
  for (let i = 0; i < came.length; i += 1) {
    const outcome = came[i] as Outcome;
    if (outcome instanceof Error) throw outcome;
    if (isClaimed(outcome, metricKeys, i % metricKeys.length)) continue;
    for (const row of choose(outcome)) rows.push(row);
  }
  return rows;
}

const asTheyAre = (outcomes: readonly Outcome[]) => outcomes;

/** Only the first country is part of the name: writing all takes longer than comparing them. */
function nameOfWanted({ countryCodes, metricKeys, maxAgeMs }: WantedRows): string {
  return `${metricKeys} ${maxAgeMs} ${countryCodes[0]}`;
}

function areEqual(some: readonly string[], other: readonly string[]): boolean {
  return some.length === other.length && some.every((one, i) => one === other[i]);
}

function outcomeOf(national: National): Outcome {
  if (national instanceof Error) return national;
  return national === null ? [] : [national];
}

/** True if the rows belong to another requested key: the service ignores case. */
function isClaimed(
  [row]: readonly ObservationRecord[],
  metricKeys: readonly string[],
  position: number,
): boolean {
  return row !== undefined && row.metricKey !== metricKeys[position] && metricKeys.includes(row.metricKey);
}
