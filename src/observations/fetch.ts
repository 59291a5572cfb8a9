import type { Demand } from '../planner/demand.ts';
import type { Sending } from '../upstream/call.ts';
import type { Outcome } from './outcome.ts';

/** Called once a demand, as soon as its outcome is known. */
export type Settle = (demand: Demand, outcome: Outcome) => void;

/**
 * One stage of the way of figures, or all of them: settles each of the demands, no two of which are equal. A failure on
 * the way is an outcome; what is thrown is a fault of ours, or the reason for which the operation was given up.
 */
export type Fetch = (demands: readonly Demand[], sending: Sending, settle: Settle) => Promise<void>;
