import type { ObservationRecord } from '../upstream/records/observations.ts';

/** What became of one demand: its rows (none where the service holds no figure), or why there are none. */
export type Outcome = readonly ObservationRecord[] | Error;
