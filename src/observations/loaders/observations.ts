import DataLoader from 'dataloader';
import { observations } from '../../service/endpoints.ts';
import type { ObservationRecord } from '../../service/records/observations.ts';
import type { Sending } from '../../service/sending.ts';
import {
  eachInTurns,
  mapValue,
  type PromiseOrValue,
  type Steps,
  timeSliced,
} from '../../shared/async/turns.ts';
import { Failure } from '../../shared/errors.ts';
import { type Figures, type Outcome, WrongGuess } from '../entries.ts';
import {
  covers,
  type Demand,
  demandFor,
  demandsFor,
  keyOf,
  type Mode,
  type Pair,
  wholeOf,
  type YearRange,
  yearRange,
} from '../planner/demand.ts';
import { alikeWith, newestOf, periodKeyOf, sourcesOf } from '../planner/newest.ts';
import type { CallOrder } from './call-order.ts';
import { createOneState, renewTogether } from './one-state.ts';

export type BatchGate = ReturnType<typeof createBatchGate>;

/**
 * Tells when the batch of one operation leaves: once no load still in flight can add to it, or after a bounded wait.
 *
 * DataLoader's own tick is too early: `country(code)` is ready while `countries` still waits for its list. Their
 * figures would travel in two calls.
 * @param longestMs the longest wait of a batch that is ready, in milliseconds
 */
export function createBatchGate(longestMs: number) {
  /** Loads that keep the gate closed. */
  let loading = 0;
  let longest: NodeJS.Timeout | undefined;
  let waiting: (() => void)[] = [];

  function open(): void {
    clearTimeout(longest);
    const ready = waiting;
    waiting = [];
    for (const leave of ready) leave();
  }

  // The resolvers below a settled load may load again: all of them run before setImmediate.
  const openSoon = () =>
    setImmediate(() => {
      if (loading === 0 && waiting.length > 0) open();
    });

  return {
    /** False while a load keeps it closed. */
    get isOpen() {
      return loading === 0;
    },
    /** Keeps the gate closed until the promise settles. It ignores the outcome. */
    closeDuring<T>(promise: Promise<T>): Promise<T> {
      loading += 1;
      const end = () => {
        loading -= 1;
        if (loading === 0 && waiting.length > 0) openSoon();
      };
      promise.then(end, end);
      return promise;
    },
    /** Opens the gate for a load that keeps it closed, while that load waits for figures itself. */
    openDuring<T>(figures: Promise<T>): Promise<T> {
      loading -= 1;
      return figures.finally(() => {
        loading += 1;
      });
    },
    /** Calls back once nothing keeps the gate closed, or the longest wait is over. */
    whenOpen(leave: () => void): void {
      waiting.push(leave);
      if (waiting.length > 1) return;
      longest = setTimeout(open, longestMs);
      openSoon();
    },
  };
}

/** The most for a key that the service has accepted lately. All figures that the service has are some 150,000. */
const MOST_THINGS = 250_000;

/** The most errors for such a key. A figure of each country and indicator, each with an error, are 11,178. */
const MOST_ERRORS = 25_000;

/** The most for any other key: the latest figures of all countries and indicators are 11,178. */
const MOST_UNPROVEN = 12_500;

/**
 * The work on one operation, counted in things: figures wanted, items of lists, errors. It is bounded before the work
 * is done, and by a count rather than by a clock, so that the same operation has the same outcome on any machine. Each
 * count throws a Failure OPERATION_TOO_EXPENSIVE if there are more than may be.
 */
export class Effort {
  readonly #whose: { readonly isProven: boolean };
  readonly #ended: () => Failure | null;
  #refusal: Failure | null = null;
  #figures = 0;
  #items = 0;
  #errors = 0;

  /**
   * @param whose the tenant that the work is for
   * @param ended tells the failure for which the work is ended from without
   */
  constructor(whose: { readonly isProven: boolean }, ended: () => Failure | null = () => null) {
    this.#whose = whose;
    this.#ended = ended;
  }

  /** The failure with which the work was ended; null if it wasn't. Nothing more is begun from then on. */
  get refusal(): Failure | null {
    return this.#ended() ?? this.#refusal;
  }

  /** Counts figures that are about to be wanted. */
  want(count: number): void {
    this.#figures += count;
    this.#check(this.#figures, 'figures');
  }

  /** Counts items of lists that are about to be resolved. */
  list(count: number): void {
    this.#items += count;
    this.#check(this.#items, 'items of lists');
  }

  /** Counts errors that fields are about to be answered with: each takes as long as ten items. */
  fail(count: number): void {
    this.#errors += count;
    this.#check(this.#errors, 'errors', MOST_ERRORS);
  }

  #check(count: number, what: string, most: number = MOST_THINGS): void {
    const ended = this.refusal;
    if (ended !== null) throw ended;
    if (count <= MOST_UNPROVEN) return;
    const { isProven } = this.#whose;
    const limit = isProven ? most : MOST_UNPROVEN;
    if (count <= limit) return;
    const whose = isProven
      ? '.'
      : ' under a key that the service has not accepted lately. Ask for something small first, so that the key is known.';
    this.#refusal = new Failure(
      'OPERATION_TOO_EXPENSIVE',
      `The operation comes to more ${what} than the ${limit} that this gateway takes${whose}`,
      { planned: count, limit },
    );
    throw this.#refusal;
  }
}

/** A figure that another one is compared with. */
export interface WantedFigure extends Pair {
  readonly year: number;
  /** Period of the figure which it is compared with, which is of the same year. */
  readonly period: string;
  /** True if it is the figure of the whole country. */
  readonly isNational: boolean;
}

/**
 * Loads figures that others are compared with: together with those, as far as they are known beforehand.
 * @param outcomesOf returns the outcomes of demands for series
 * @param nationalsOf returns the latest figures of whole countries, of demands for latest ones
 */
function createOperandLoader(
  effort: Effort,
  outcomesOf: (demands: readonly Demand[]) => PromiseOrValue<readonly Outcome[]>,
  nationalsOf: (demands: readonly Demand[]) => PromiseOrValue<readonly National[]>,
) {
  /** Demands that were made beforehand, by pair. */
  const expected = { latest: new Map<string, Demand[]>(), series: new Map<string, Demand[]>() };

  /** Notes a demand; returns true if it is new. */
  function expect(demand: Demand): boolean {
    const byPair = expected[demand.mode];
    const pair = keyOf(demand);
    const known = byPair.get(pair);
    if (known === undefined) byPair.set(pair, [demand]);
    else if (known.some(({ key, maxAgeMs }) => key === demand.key && maxAgeMs === demand.maxAgeMs))
      return false;
    else known.push(demand);
    return true;
  }

  /**
   * Asks for figures that will be wanted, so that they travel with the other demands of the same turn.
   * @throws Failure OPERATION_TOO_EXPENSIVE if they are more than may be
   */
  function ahead(demands: readonly Demand[]): void {
    const fresh = demands.filter(expect);
    if (fresh.length === 0) return;
    effort.want(fresh.length);
    const latest = fresh.filter(({ mode }) => mode === 'latest');
    const series = fresh.filter(({ mode }) => mode === 'series');
    // Their outcomes are told to the fields that want them.
    if (latest.length > 0) ignore(nationalsOf(latest));
    if (series.length > 0) ignore(outcomesOf(series));
  }

  function expectedSeries(pair: string, from: number, to: number): Demand | undefined {
    return expected.series.get(pair)?.find(({ years }) => years === null || covers(years, { from, to }));
  }

  /** Returns the rows among which the figure of each pair is, if there is one; an Error if that can't be told. */
  function byPair(wanted: readonly WantedFigure[]): PromiseOrValue<ReadonlyMap<string, Outcome>> {
    const spans = new Map<string, { readonly first: WantedFigure; from: number; to: number }>();
    for (const one of wanted) {
      const span = spans.get(keyOf(one));
      if (span === undefined) spans.set(keyOf(one), { first: one, from: one.year, to: one.year });
      else [span.from, span.to] = [Math.min(span.from, one.year), Math.max(span.to, one.year)];
    }
    effort.want(spans.size);
    const demands = [...spans].map(
      ([pair, { first, from, to }]) =>
        expectedSeries(pair, from, to) ??
        demandFor('series', first.countryCode, first.metricKey, undefined, yearRange(from, to)),
    );
    return mapValue(
      outcomesOf(demands),
      (outcomes) => new Map([...spans.keys()].map((pair, i) => [pair, outcomes[i] ?? NONE])),
    );
  }

  /** Returns the rows among which each figure is, in the order of the wanted ones. */
  function series(wanted: readonly WantedFigure[]): PromiseOrValue<readonly Outcome[]> {
    return mapValue(byPair(wanted), (outcomes) => wanted.map((one) => outcomes.get(keyOf(one)) ?? NONE));
  }

  /** Finds the demand for the latest figure of a pair, if that was asked for and the series was not. */
  const latestFor = (one: WantedFigure) =>
    one.isNational && expectedSeries(keyOf(one), one.year, one.year) === undefined
      ? expected.latest.get(keyOf(one))?.[0]
      : undefined;

  /** Answers as `series` does; but if the latest figure has been asked for and tells, it stands for the series. */
  function near(wanted: readonly WantedFigure[]): PromiseOrValue<readonly Outcome[]> {
    const demands = new Map(wanted.map((one) => [keyOf(one), latestFor(one)]));
    const asked = [...demands.values()].filter((demand) => demand !== undefined);
    if (asked.length === 0) return series(wanted);
    effort.want(wanted.length);
    return mapValue(nationalsOf(asked), (nationals) => {
      const latestByPair = new Map(asked.map((demand, i) => [keyOf(demand), nationals[i]]));
      const told = wanted.map((one) => {
        const latest = latestByPair.get(keyOf(one));
        return latestFor(one) === undefined || latest === undefined ? null : toldBy(latest, one);
      });
      const untold = wanted.filter((_, i) => told[i] === null);
      if (untold.length === 0) return told.map((outcome) => outcome ?? NONE);
      return mapValue(byPair(untold), (outcomes) =>
        wanted.map((one, i) => told[i] ?? outcomes.get(keyOf(one)) ?? NONE),
      );
    });
  }

  return {
    ahead,
    series,
    near,
    /** Returns the latest figures of whole countries: if several figures may be wanted, the service's own choice. */
    latest(pairs: readonly Pair[]): PromiseOrValue<readonly National[]> {
      effort.want(pairs.length);
      return nationalsOf(
        pairs.map((pair) => {
          const [asked] = expected.latest.get(keyOf(pair)) ?? expected.series.get(keyOf(pair)) ?? [];
          return demandFor('latest', pair.countryCode, pair.metricKey, asked?.maxAgeMs);
        }),
      );
    },
  };
}

const NONE: readonly ObservationRecord[] = [];

/** Returns the figure that the latest one tells of a wanted one; null if that stands in the series, if anywhere. */
function toldBy(latest: ObservationRecord | Error | null, wanted: WantedFigure): Outcome | null {
  if (latest === null) return NONE;
  if (latest instanceof Error || latest.year < wanted.year)
    return latest instanceof Error ? latest : [latest];
  // The year may have figures for other periods, and for this one several: then the latest is the one that the service
  // has chosen.
  const isOfPeriod = latest.period === wanted.period || periodKeyOf(latest) === periodKeyOf(wanted);
  return latest.year === wanted.year && isOfPeriod ? [latest] : null;
}

function ignore(promise: PromiseOrValue<unknown>): void {
  if (promise instanceof Promise) promise.catch(() => {});
}

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

type National = ObservationRecord | Error | null;

type OnOutcomes = (demands: readonly Demand[], outcomes: readonly Outcome[]) => void;

/** The means of one operation's figures. */
interface FiguresMeans {
  readonly sending: Sending;
  /** Source of the figures. */
  readonly figures: Figures;
  readonly batchGate: BatchGate;
  readonly effort: Effort;
  readonly order: CallOrder;
}

/** Makes the function that returns the latest national rows of demands for latest ones. */
function createNationals({ effort }: FiguresMeans, newest: NewestOf, withOutcomes: WithOutcomes) {
  function nationalIn(outcome: Outcome): National {
    if (outcome instanceof Error) return outcome;
    const [only] = outcome;
    if (only !== undefined && outcome.length === 1) return isNational(only) ? only : null;
    return newest(outcome.filter(isNational));
  }

  return (demands: readonly Demand[], isGuess = false): PromiseOrValue<readonly National[]> =>
    withOutcomes(
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
        return withOutcomes(wanted, (series) => {
          const found = new Map(ofPlaces.map((demand, i) => [demand, series[i]]));
          return latest.map((outcome, i) => nationalIn(found.get(demands[i] as Demand) ?? outcome));
        });
      },
      isGuess,
    );
}

type NewestOf = (rows: readonly ObservationRecord[]) => ObservationRecord | null;

export type ObservationLoader = ReturnType<typeof createObservationLoader>;

/** @param onOutcomes called with the outcomes of demands */
export function createObservationLoader(parts: FiguresMeans, onOutcomes: OnOutcomes) {
  const { effort, sending, batchGate } = parts;
  const { several } = parts.figures;
  /** Sources of the rows that stood beside figures that were taken by our own rule: hardly any operation has some. */
  let ruled: Map<ObservationRecord, readonly string[]> | undefined;
  const oneState = createOneState();
  const together = { isOn: false };
  let countedAhead = 0;
  const withOutcomes = createOutcomes(parts, { oneState, together }, onOutcomes);

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

  /** Returns the newest of some rows by our own rule: the operation remembers the others of its period. Null for none. */
  function newest(rows: readonly ObservationRecord[]): ObservationRecord | null {
    const found = newestOf(rows);
    const alike = found === null ? rows : alikeWith(found, rows);
    if (found !== null && alike.length > 1) {
      ruled ??= new Map();
      ruled.set(found, sourcesOf(alike));
    }
    return found;
  }

  /** The service may give several rows as the latest. */
  const latestIn = (rows: readonly ObservationRecord[]) =>
    rows.length < 2 ? rows : [newest(rows) as ObservationRecord];

  const nationalsOf = createNationals(parts, newest, withOutcomes);

  return {
    /**
     * Returns the rows of every country and metric named, in their order: the latest as the service gives it, the latest
     * of the whole country, or the series. At once, if all of it is held.
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
      const rowsIn = (outcomes: readonly Outcome[]) => {
        const rows: ObservationRecord[] = [];
        for (let i = 0; i < outcomes.length; i += 1) {
          const outcome = outcomes[i] as Outcome;
          if (outcome instanceof Error) throw outcome;
          if (isClaimed(outcome, metricKeys, i % metricKeys.length)) continue;
          for (const row of choose(chosenIn(outcome))) rows.push(row);
        }
        return rows;
      };
      return mapValue(demandsOf(wanted), (demands) => {
        if (!wanted.isNational) return withOutcomes(demands, rowsIn);
        return mapValue(nationalsOf(demands), (nationals) => rowsIn(nationals.map(outcomeOf)));
      });
    },
    /** Returns the latest row of each whole country, in their order: null for none, an Error if that can't be told. */
    nationals(
      countryCodes: readonly string[],
      metricKey: string,
      maxAgeMs: number,
    ): PromiseOrValue<readonly National[]> {
      sending.bill.naive += countryCodes.length;
      const wanted = { mode: 'latest', countryCodes, metricKeys: [metricKey], maxAgeMs } as const;
      return mapValue(demandsOf(wanted), nationalsOf);
    },
    /**
     * Asks for rows that `rows` or `nationals` will most likely be asked for.
     * @param isGuess true if a refusal is not to be looked into: what is wanted then is asked for anew
     * @returns settles once they have come, and is never rejected; undefined if they are at hand
     */
    ahead(wanted: WantedRows, isGuess: boolean): Promise<unknown> | undefined {
      const coming = mapValue(
        demandsOf(wanted, true),
        (demands): PromiseOrValue<unknown> =>
          wanted.isNational ? nationalsOf(demands, isGuess) : withOutcomes(demands, asTheyAre, isGuess),
      );
      // The field that wants them is told the error.
      return coming instanceof Promise ? coming.catch(() => {}) : undefined;
    },
    newest,
    /** Returns rows that came otherwise in the states in which the operation tells its figures. */
    inOneState: oneState.ofRows,
    /** Has figures told together, the newest of each: called before any is asked for. */
    tellTogether(): void {
      together.isOn = true;
    },
    /** Returns true if any row is known to stand beside any figure: mostly there is none. */
    knowsSeveral: () => ruled !== undefined || !several.isEmpty,
    /**
     * Returns the sources of the figures that stand together with a latest one, each once, in the order of their keys; null
     * if it stands alone. It was taken by our own rule, or else the service gave it as the latest.
     */
    severalOf(row: ObservationRecord) {
      const sources = ruled?.get(row);
      if (sources !== undefined) return { sources, isByRule: true };
      const known = several.sourcesOf(sending.caller.tenant, row);
      return known === null ? null : { sources: known, isByRule: false };
    },
    /** Figures that others are compared with. */
    operands: createOperandLoader(effort, (demands) => withOutcomes(demands, asTheyAre), nationalsOf),
  };
}

const asTheyAre = (outcomes: readonly Outcome[]) => outcomes;

function outcomeOf(national: National): Outcome {
  if (national instanceof Error) return national;
  return national === null ? [] : [national];
}

/** Demands of which no figures are cached. */
interface Missing {
  readonly demands: readonly Demand[];
  /** As `Figures.fetch` takes it. */
  readonly missingAsOf: number | null;
}

/** Demands on their way to be fetched. */
interface DemandSet extends Missing {
  readonly isGuess: boolean;
}

/** Demands that were asked for together. */
class AskedSet {
  /** Resolves with null once they have come, else with their error. Null as long as they are looked for at once. */
  failure: Promise<Error | null> | null = null;
}

/** The means by which all figures of one answer are in one state. */
interface OneAnswer {
  readonly oneState: ReturnType<typeof createOneState>;
  /** On if held figures are not told before all are there: some field takes nothing old. */
  readonly together: { isOn: boolean };
}

/** Makes a result of the outcomes of demands, in their order; at once if they are all there. */
type WithOutcomes = <Result>(
  demands: readonly Demand[],
  make: (outcomes: readonly Outcome[]) => PromiseOrValue<Result>,
  isGuess?: boolean,
) => PromiseOrValue<Result>;

/** Demands that are made, and looked for, in less than a turn. */
const FEW = 250;

/**
 * Gathers the outcomes of one operation. An outcome that is held, or has come, is there at once and costs no promise;
 * DataLoader gathers the rest, with the demands of a field as one set: a promise for each of thousands of demands would
 * take longer than they do.
 */
function createOutcomes(
  { figures, sending, batchGate, order }: FiguresMeans,
  { oneState, together }: OneAnswer,
  onOutcomes: OnOutcomes,
): WithOutcomes {
  /** Outcomes that the operation has, by the names of demands; for demands that it has asked for, the set of each. */
  const known = new Map<string, Outcome | AskedSet>();
  const loader = new DataLoader<DemandSet, null>(fetchAll, {
    cache: false,
    batchScheduleFn: (leave) => batchGate.whenOpen(leave),
  });

  async function fetchAll(sets: readonly DemandSet[]): Promise<null[]> {
    const demands = sets.flatMap((set) => set.demands);
    const isGuess = sets.every((set) => set.isGuess);
    const [{ missingAsOf = null } = {}, ...others] = sets;
    const areLooked = others.every((set) => set.missingAsOf === missingAsOf);
    const from = isGuess ? { ...sending, isGuess } : sending;
    const outcomes = await figures.fetch(demands, from, areLooked ? missingAsOf : null);
    outcomes.forEach((outcome, name) => {
      if (outcome instanceof WrongGuess) known.delete(name);
      else known.set(name, outcome);
    });
    if (together.isOn) renewTogether(demands, known);
    return sets.map(() => null);
  }

  /** The name that a demand is asked by: that of the whole series for some years, if the operation has asked for that. */
  function nameOf(demand: Demand): string {
    if (demand.years === null) return demand.name;
    const whole = wholeOf(demand);
    return known.has(whole.name) ? whole.name : demand.name;
  }

  /** Notes demands as asked for, each once, in a set; returns those that are new, and other sets that bring some. */
  function note(demands: readonly Demand[], own: AskedSet) {
    const fresh: Demand[] = [];
    let others: Set<AskedSet> | undefined;
    for (const demand of demands) {
      const name = nameOf(demand);
      const before = known.get(name);
      if (before === undefined) {
        known.set(name, own);
        fresh.push(demand);
      } else if (before instanceof AskedSet && before !== own) {
        others ??= new Set();
        others.add(before);
      }
    }
    return { fresh, others };
  }

  /** Returns the outcome of a demand that has come, by its own name or that of the whole series. */
  const cameFor = (demand: Demand) => cameOf(known.get(demand.name)) ?? cameOf(known.get(nameOf(demand)));

  /** Looks for demands among the held ones; returns those that aren't there. */
  function missingIn(demands: readonly Demand[]): Missing {
    const found = together.isOn ? null : figures.find(demands, sending);
    if (found === null) return { demands, missingAsOf: null };
    const missing: Demand[] = [];
    for (let i = 0; i < demands.length; i += 1) {
      const demand = demands[i] as Demand;
      const outcome = found.outcomes[i];
      if (outcome === undefined) missing.push(demand);
      else known.set(demand.name, outcome);
    }
    return { demands: missing, missingAsOf: found.missingAsOf };
  }

  function* missingInSteps(demands: readonly Demand[]): Steps<Missing> {
    const missing: Demand[] = [];
    for (let from = 0; from < demands.length; from += FEW) {
      missing.push(...missingIn(demands.slice(from, from + FEW)).demands);
      yield;
    }
    return { demands: missing, missingAsOf: null };
  }

  function missingInTurns(demands: readonly Demand[]): PromiseOrValue<Missing> {
    if (demands.length <= FEW) return missingIn(demands);
    const looking = timeSliced(sending.caller, missingInSteps(demands));
    return looking instanceof Promise ? batchGate.closeDuring(looking) : looking;
  }

  /** Has demands fetched, once it is known which; null if they are none, else resolves as `failure` of a set does. */
  function failureOf(missing: PromiseOrValue<Missing>, isGuess: boolean): Promise<Error | null> | null {
    if (!(missing instanceof Promise) && missing.demands.length === 0) return null;
    const load = (some: Missing) =>
      some.demands.length === 0 ? null : order.leads(observations.route, loader.load({ ...some, isGuess }));
    return Promise.resolve(mapValue(missing, load)).catch(errorOf);
  }

  const withOutcomes: WithOutcomes = (demands, makeOf, isGuess = false) => {
    const own = new AskedSet();
    const { fresh, others } = note(demands, own);
    const make = (failure: Error | null): ReturnType<typeof makeOf> => {
      // A guess of before was wrong: it has brought nothing, and what is wanted of it is asked for anew.
      const isUnmet = others !== undefined && failure === null && !isGuess;
      if (isUnmet && demands.some((demand) => cameFor(demand) === undefined))
        return withOutcomes(demands, makeOf);
      const outcomes = demands.map(
        (demand) => cameFor(demand) ?? failure ?? new Error(`No outcome of ${demand.key}.`),
      );
      onOutcomes(demands, outcomes);
      return makeOf(oneState.of(demands, outcomes));
    };
    try {
      own.failure = fresh.length === 0 ? null : failureOf(missingInTurns(fresh), isGuess);
    } catch (error) {
      for (const { name } of fresh) known.delete(name);
      throw error;
    }
    if (own.failure === null && others === undefined) return make(null);
    return mapValue(firstFailure([own, ...(others ?? [])]), make);
  };
  return withOutcomes;
}

/** Returns the error for which sets have not come, once all are settled; null if they came well. */
function firstFailure(sets: readonly AskedSet[]): PromiseOrValue<Error | null> {
  const [only] = sets;
  if (only !== undefined && sets.length === 1) return only.failure;
  const failures = Promise.all(sets.map(({ failure }) => failure));
  return failures.then((all) => all.find((failure) => failure !== null) ?? null);
}

/** Returns the outcome of a demand; undefined if none has come. */
function cameOf(known: Outcome | AskedSet | undefined): Outcome | undefined {
  return known instanceof AskedSet ? undefined : known;
}

function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('The figures could not be fetched.', { cause: thrown });
}

/** Returns true if the rows are those of another key that was asked for too: if case makes no difference to the service. */
function isClaimed([row]: readonly ObservationRecord[], metricKeys: readonly string[], own: number): boolean {
  return row !== undefined && row.metricKey !== metricKeys[own] && metricKeys.includes(row.metricKey);
}

function isNational({ locationName }: ObservationRecord): boolean {
  return locationName === null;
}
