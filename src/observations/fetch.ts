import type { ObservationRecord } from '../service/records/observations.ts';
import type { Sending } from '../service/sending.ts';
import type { ReadPairs } from './cached-pairs.ts';
import type { Demand } from './planner/demand.ts';
import type { SeveralFigures } from './several-figures.ts';

/** The outcome of a demand that was a guess, if the service refuses the call: what is wanted is asked for anew. */
export class WrongGuess extends Error {
  constructor() {
    super('The figures that were guessed to be wanted could not be had.');
  }
}

/** The outcome of one demand: its rows (none if the service holds no figure), or the reason why there are none. */
export type Outcome = readonly ObservationRecord[] | Error;

/**
 * Outcomes by the keys of demands; those of an operation by the names, since they may differ in age alone. It belongs to
 * the one who asked.
 */
export type Outcomes = Map<string, Outcome>;

/**
 * Fetches figures of one operation: returns an outcome of each of the demands, no two of which are equal. A failure on
 * the way is an outcome. A thrown error is an error of our own, or the reason for which the operation was given up.
 */
export type Fetch = (demands: readonly Demand[], sending: Sending) => Promise<Outcomes>;

/**
 * Fetches a batch, which several operations wait for. Outcomes are passed on as they come, those of a call together, so that
 * nobody waits for a call that others need.
 */
export type FetchBatch = (
  demands: readonly Demand[],
  sending: Sending,
  listener: FetchListener,
) => Promise<void>;

export interface FetchListener {
  /** Called with demands, each once, and their outcomes by place. */
  readonly onOutcomes: (demands: readonly Demand[], outcomes: readonly Outcome[]) => void;
  /**
   * Called with each call under way that may bring more than was demanded: with a function that has it tell the outcome of
   * a further demand, and returns true if it will.
   */
  readonly onCall?: ((takeAlong: (demand: Demand) => boolean) => void) | undefined;
}

/** Tells that all of these demands have the same outcome. */
export function settleAll({ onOutcomes }: FetchListener, demands: readonly Demand[], outcome: Outcome): void {
  if (demands.length === 0) return;
  onOutcomes(
    demands,
    demands.map(() => outcome),
  );
}

/** Cached figures that may be served without asking. */
export interface Found {
  /** Outcomes by the places of the demands, undefined where there are none. */
  readonly outcomes: readonly (Outcome | undefined)[];
  /** The generation of the cache as of which nothing at all is cached of the others; null if something may be. */
  readonly missingAsOf: number | null;
}

/** The source of the figures of one operation. */
export interface Figures {
  /** Finds the cached figures of demands, each given once; null if none can be found at once. */
  readonly find: (demands: readonly Demand[], sending: Sending) => Found | null;
  /**
   * @param missingAsOf as {@link Found} has it: then they are not looked for once more
   * @throws the signal's reason if the client leaves first
   */
  readonly fetch: (
    demands: readonly Demand[],
    sending: Sending,
    missingAsOf?: number | null,
  ) => Promise<Outcomes>;
  /** The countries and metrics that are known to have several figures of a period. */
  readonly several: SeveralFigures;
  /** Reads all that is cached of pairs, by their places; asks the service for nothing. */
  readonly cachedPairs: ReadPairs;
}
