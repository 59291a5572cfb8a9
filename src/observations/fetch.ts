import type { Demand } from '../planner/demand.ts';
import type { Sending } from '../upstream/call.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';
import type { Outcome } from './outcome.ts';
import type { SeveralFigures } from './several-figures.ts';

/** Called once a demand, as soon as its outcome is known, with a demand of the same name. */
export type Settle = (demand: Demand, outcome: Outcome) => void;

/**
 * One stage of the way of figures, or all of them: settles each of the demands, no two of which are equal. A failure on
 * the way is an outcome; what is thrown is a fault of ours, or the reason for which the operation was given up.
 */
export type Fetch<Wanted extends Demand = Demand> = (
  demands: readonly Wanted[],
  sending: Sending,
  settle: Settle,
) => Promise<void>;

/** Where the figures of one operation come from. */
export interface Figures {
  /** Finds what is held of a demand and may be served without asking; null where nothing can be found at once. */
  held(sending: Sending): ((demand: Demand) => readonly ObservationRecord[] | undefined) | null;
  /** @throws the signal's reason where the client leaves first */
  readonly fetch: Fetch;
  /** What is known of countries and metrics that have several figures of a period. */
  readonly several: Pick<SeveralFigures, 'isEmpty' | 'sourcesOf'>;
}
