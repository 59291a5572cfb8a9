import type { Demand } from '../plan/demand.ts';
import type { Sending } from '../service/call.ts';
import type { ObservationRecord } from '../service/records/observations.ts';
import type { Outcome, SeveralFigures } from './entries.ts';

/** Called once a demand, as soon as its outcome is known, with a demand of the same name. */
export type Settle = (demand: Demand, outcome: Outcome) => void;

/**
 * One stage of the way of figures, or all of them: settles each of the demands, no two of which are equal. A failure on
 * the way is an outcome. A thrown error is a fault of ours, or the reason for which the operation was given up.
 */
export type Fetch<Wanted extends Demand = Demand> = (
  demands: readonly Wanted[],
  sending: Sending,
  settle: Settle,
) => Promise<void>;

/** The source of the figures of one operation. */
export interface Figures {
  /** Finds the held figures for a demand that may be served without asking; null if none can be found at once. */
  held(sending: Sending): ((demand: Demand) => readonly ObservationRecord[] | undefined) | null;
  /** @throws the signal's reason if the client leaves first */
  readonly fetch: Fetch;
  /** The countries and metrics that are known to have several figures of a period. */
  readonly several: Pick<SeveralFigures, 'isEmpty' | 'sourcesOf'>;
}
