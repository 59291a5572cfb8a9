import type { ObservationRecord } from '../../service/records/observations.ts';
import { eachInTurns, mapValue, type PromiseOrValue } from '../../shared/async/turns.ts';
import type { Outcome } from '../fetch.ts';
import {
  type Demand,
  demandFor,
  demandsFor,
  type Mode,
  type Pair,
  type YearRange,
} from '../planner/demand.ts';
import { alikeWith, newestOf, sourcesOf } from '../planner/newest.ts';
import { createOperandLoader } from './operands.ts';
import { type Doubts, FEW, type FiguresMeans, type National, OperationOutcomes } from './outcomes.ts';

/** Rows that are wanted: every country with every metric. */
type WantedRows = {
  readonly mode: Mode;
  readonly countryCodes: readonly string[];
  readonly metricKeys: readonly string[];
  readonly maxAgeMs: number;
  /** True if the latest row of the whole country is wanted, though the row of a place may be newer. */
  readonly isNational?: boolean;
  /** The years that are wanted of series; null or omitted for all of them. */
  readonly years?: YearRange | null;
};

interface Prefetched {
  readonly countryCodes: readonly string[];
  readonly rows: PromiseOrValue<readonly National[]>;
}

/** Makes the function that returns the latest national rows of demands for latest ones. */
function createNationals({ effort }: FiguresMeans, newest: NewestOf, outcomes: OperationOutcomes) {
  function nationalIn(outcome: Outcome): National {
    if (outcome instanceof Error) return outcome;
    const [only] = outcome;
    if (only !== undefined && outcome.length === 1) return isNational(only) ? only : null;
    return newest(outcome.filter(isNational));
  }

  return (demands: readonly Demand[], isGuess = false): PromiseOrValue<readonly National[]> =>
    outcomes.of(
      demands,
      (latest) => {
        // If the newest row is that of a place, the newest national one stands in the series.
        const isOfPlace = (outcome: Outcome | undefined) =>
          Array.isArray(outcome) && outcome.length > 0 && !outcome.some(isNational);
        const ofPlaces = demands.filter((_, i) => isOfPlace(latest[i]));
        if (ofPlaces.length === 0) return latest.map(nationalIn);
        effort.want(ofPlaces.length);
        const wanted = ofPlaces.map(({ countryCode, metricKey, maxAgeMs }) =>
          demandFor('series', countryCode, metricKey, maxAgeMs),
        );
        return outcomes.of(wanted, (series) => {
          const outcomes = new Map(ofPlaces.map((demand, i) => [demand, series[i]]));
          return latest.map((outcome, i) => nationalIn(outcomes.get(demands[i] as Demand) ?? outcome));
        });
      },
      isGuess,
    );
}

/** Chooses the newest of rows, and knows beside which rows others stand. */
function createChoice({ sending, figures: { several } }: FiguresMeans) {
  /** Sources of the rows that stood beside figures that were taken by our own rule: hardly any operation has some. */
  let ruled: Map<ObservationRecord, readonly string[]> | undefined;

  /** Returns the newest of some rows by our own rule: the operation notes the others of its period. Null for none. */
  function newest(rows: readonly ObservationRecord[]): ObservationRecord | null {
    const record = newestOf(rows);
    const alike = record === null ? rows : alikeWith(record, rows);
    if (record !== null && alike.length > 1) {
      ruled ??= new Map();
      ruled.set(record, sourcesOf(alike));
    }
    return record;
  }

  return {
    newest,
    /** Returns true if any row is known to stand beside any figure: mostly there is none. */
    hasSeveral: () => ruled !== undefined || !several.isEmpty,
    /**
     * Returns the sources of the figures that stand together with a latest one, each once, in the order of their keys; null
     * if it stands alone. It was taken by our own rule, or else the service gave it as the latest.
     */
    severalOf(row: ObservationRecord) {
      const sources = ruled?.get(row);
      if (sources !== undefined) return { sources, isByRule: true };
      const cachedSources = several.sourcesOf(sending.caller.tenant, row);
      return cachedSources === null ? null : { sources: cachedSources, isByRule: false };
    },
  };
}

type NewestOf = (rows: readonly ObservationRecord[]) => ObservationRecord | null;

export type ObservationLoader = ReturnType<typeof createObservationLoader>;

export function createObservationLoader(parts: FiguresMeans, doubts: Doubts) {
  const { effort, sending, batchGate, figures } = parts;
  const choice = createChoice(parts);
  const { newest } = choice;
  let countedAhead = 0;
  /** National rows that were prefetched, by `nameOf`, until a field wants just these: those of the last such field. */
  const prefetched = new Map<string, Prefetched>();
  const outcomes = new OperationOutcomes(parts, doubts);

  /** Makes a demand for each country and metric: at once, unless there are many. */
  function demandsOf(wanted: WantedRows, isAhead = false): PromiseOrValue<readonly Demand[]> {
    const { mode, countryCodes, metricKeys, maxAgeMs, years } = wanted;
    const count = countryCodes.length * metricKeys.length;
    // Those that were asked for ahead are counted.
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

  /** The service may give several rows as the latest. */
  const latestIn = (rows: readonly ObservationRecord[]) =>
    rows.length < 2 ? rows : [newest(rows) as ObservationRecord];

  const nationalsOf = createNationals(parts, newest, outcomes);

  return {
    /**
     * Returns the rows of every country and metric named, in their order: the latest as the service gives it, the latest
     * of the whole country, or the series. At once, if all of it is cached.
     * @param choose picks the wanted rows of a country and metric; if some years are wanted, rows of others may be among
     * them
     */
    rows(
      wanted: WantedRows,
      choose: (rows: readonly ObservationRecord[]) => readonly ObservationRecord[] = (rows) => rows,
    ): PromiseOrValue<readonly ObservationRecord[]> {
      sending.bill.naive += 1;
      const { metricKeys } = wanted;
      const chosenIn = wanted.mode === 'latest' ? latestIn : (rows: readonly ObservationRecord[]) => rows;
      const rowsIn = (came: readonly Outcome[]) => {
        const rows: ObservationRecord[] = [];
        for (let i = 0; i < came.length; i += 1) {
          const outcome = came[i] as Outcome;
          if (outcome instanceof Error) throw outcome;
          if (isClaimed(outcome, metricKeys, i % metricKeys.length)) continue;
          for (const row of choose(chosenIn(outcome))) rows.push(row);
        }
        return rows;
      };
      return mapValue(demandsOf(wanted), (demands) => {
        if (!wanted.isNational) return outcomes.of(demands, rowsIn);
        return mapValue(nationalsOf(demands), (nationals) => rowsIn(nationals.map(outcomeOf)));
      });
    },
    /** Returns the latest row of each whole country, in their order: null for none, an Error if that can't be known. */
    nationals(
      countryCodes: readonly string[],
      metricKey: string,
      maxAgeMs: number,
    ): PromiseOrValue<readonly National[]> {
      sending.bill.naive += countryCodes.length;
      const wanted = { mode: 'latest', countryCodes, metricKeys: [metricKey], maxAgeMs } as const;
      const name = nameOf(wanted);
      const ahead = prefetched.get(name);
      if (ahead === undefined || !areEqual(ahead.countryCodes, countryCodes))
        return mapValue(demandsOf(wanted), nationalsOf);
      prefetched.delete(name);
      countedAhead -= countryCodes.length;
      return ahead.rows;
    },
    /**
     * Asks for rows that `rows` or `nationals` will most likely be asked for.
     * @param isGuess true if a refusal is not to be looked into: what is wanted then is asked for anew
     * @returns settles once they have come, and is never rejected; undefined if they are at hand
     */
    prefetch(wanted: WantedRows, isGuess: boolean): Promise<unknown> | undefined {
      const demands = demandsOf(wanted, true);
      let coming: PromiseOrValue<unknown>;
      if (wanted.isNational) {
        const rows = mapValue(demands, (some) => nationalsOf(some, isGuess));
        // A wrong guess is asked for anew by the field that wants it.
        if (!isGuess) prefetched.set(nameOf(wanted), { countryCodes: wanted.countryCodes, rows });
        coming = rows;
      } else coming = mapValue(demands, (some) => outcomes.of(some, asTheyAre, isGuess));
      // The field that wants them gets the error.
      return coming instanceof Promise ? coming.catch(() => {}) : undefined;
    },
    ...choice,
    /** Returns rows that came otherwise in the states in which the operation tells its figures. */
    inOneState: outcomes.oneState.ofRows,
    /** Returns what has come of a demand of this operation; undefined for nothing yet. Asks for nothing. */
    outcomeOf: (demand: Demand): Outcome | undefined => outcomes.outcomeOf(demand),
    /** Lists what has come of this operation's demands, by their names. */
    came: () => outcomes.came(),
    /** Reads all that is cached of pairs, by their places. Asks for nothing. */
    cachedPairs(pairs: readonly Pair[]) {
      effort.want(pairs.length);
      return figures.cachedPairs(sending.caller, pairs);
    },
    /** Has figures resolved together, the newest of each: called before any is asked for. */
    settleTogether(): void {
      outcomes.isTogether = true;
    },
    /** Figures that others are compared with. */
    operands: createOperandLoader(effort, (demands) => outcomes.of(demands, asTheyAre), nationalsOf),
  };
}

const asTheyAre = (outcomes: readonly Outcome[]) => outcomes;

/** Names rows but for their countries, of which it has the first alone: to write them all takes longer than to compare them. */
function nameOf({ countryCodes, metricKeys, maxAgeMs }: WantedRows): string {
  return `${metricKeys} ${maxAgeMs} ${countryCodes[0]}`;
}

function areEqual(some: readonly string[], other: readonly string[]): boolean {
  return some.length === other.length && some.every((one, i) => one === other[i]);
}

function outcomeOf(national: National): Outcome {
  if (national instanceof Error) return national;
  return national === null ? [] : [national];
}

/** Returns true if the rows are those of another key that was asked for too: if case makes no difference to the service. */
function isClaimed(
  [row]: readonly ObservationRecord[],
  metricKeys: readonly string[],
  position: number,
): boolean {
  return row !== undefined && row.metricKey !== metricKeys[position] && metricKeys.includes(row.metricKey);
}

function isNational({ locationName }: ObservationRecord): boolean {
  return locationName === null;
}
