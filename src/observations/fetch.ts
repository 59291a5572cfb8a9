import type { ObservationRecord } from '../service/records/observations.ts';
import type { Sending } from '../service/sending.ts';
import type { ReadPairs } from './cached-pairs.ts';
import type { Demand } from './planner/demand.ts';
import type { SeveralFigures } from './several-figures.ts';

/** Rows, none if the service holds no figure; or the reason why they can't be had. */
export type Outcome = readonly ObservationRecord[] | Error;

/** By key of the demand. Owned by whoever asked. */
export type Outcomes = Map<string, Outcome>;

/** Within an operation, where demands may differ in age alone. */
export type OutcomesByName = Outcomes;

/**
 * Returns an outcome for each of the demands, no two of which are equal. Failures on the way are outcomes; what is
 * thrown is an error of our own, or the reason for giving up the operation.
 */
export type Fetch = (demands: readonly Demand[], sending: Sending) => Promise<Outcomes>;

/** Fetches a batch that several operations wait for. Outcomes are passed on call by call. */
export type FetchBatch = (
  demands: readonly Demand[],
  sending: Sending,
  listener: FetchListener,
) => Promise<void>;

export interface FetchListener {
  readonly onOutcomes: (demands: readonly Demand[], outcomes: readonly Outcome[]) => void;
  /**
   * Called with each call under way that may bring more than was demanded. `takeAlong` makes it settle a further
   * demand, and returns true if it can.
   */
  readonly onCall?: ((takeAlong: (demand: Demand) => boolean) => void) | undefined;
}

export function settleAll({ onOutcomes }: FetchListener, demands: readonly Demand[], outcome: Outcome): void {
  if (demands.length === 0) return;
  onOutcomes(
    demands,
    demands.map(() => outcome),
  );
}

export interface Found {
  /** By index of the demand, undefined where nothing is cached. */
  readonly outcomes: readonly (Outcome | undefined)[];
  /** Generation of the cache as of which nothing is cached of the others; null if something may be. */
  readonly missingAsOf: number | null;
}

export interface Figures {
  /** Null if none can be found synchronously. */
  readonly find: (demands: readonly Demand[], sending: Sending) => Found | null;
  /**
   * @param missingAsOf as {@link Found} has it: then they are not looked for once more
   * @throws the signal's reason if the client leaves first
   */
  readonly fetch: (
    demands: readonly Demand[],
    sending: Sending,
    missingAsOf?: number | null,
  ) => Promise<OutcomesByName>;
  readonly several: SeveralFigures;
  readonly cachedPairs: ReadPairs;
}
