import type { ObservationRecord } from '../upstream/records/observations.ts';

/** The outcome of one demand: its rows (none if the service holds no figure), or the reason why there are none. */
export type Outcome = readonly ObservationRecord[] | Error;
