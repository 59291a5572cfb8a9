import type { Demand } from '../planner/demand.ts';
import type { Bill } from '../upstream/call.ts';
import type { SourceRecord } from '../upstream/records/platform.ts';
import type { LiveWarning } from '../warnings.ts';
import type { ObservationChangesRecord } from './sources.ts';

/** One event of a subscription, before its fields are resolved. */
export interface LiveEvent<Value> {
  /** Null if there is nothing to tell but the warning. */
  readonly value: Value | null;
  readonly warning: LiveWarning | null;
  /** Cost that this subscriber is the first to pay for, and cost that others have paid for it. */
  readonly bill: Pick<Bill, 'calls' | 'byRoute' | 'shared' | 'cached'>;
}

/** The source of a subscription's events, on behalf of its caller. */
export interface LiveSources {
  /**
   * Changes of the figures that answer these demands, from now on.
   * @param since the revision that the subscriber has; null if it has none and wants none
   * @throws Failure if the present figures can't be told
   */
  figures(
    demands: readonly Demand[],
    since: string | null,
  ): Promise<AsyncIterable<LiveEvent<ObservationChangesRecord>>>;
  /**
   * Runs of sources, from now on.
   * @param keys null for all sources
   * @throws Failure if the service refuses the key, or knows no such source
   */
  sources(keys: readonly string[] | null): Promise<AsyncIterable<LiveEvent<SourceRecord>>>;
}
