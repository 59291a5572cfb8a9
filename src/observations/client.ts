import type { Send } from '../upstream/call.ts';
import { type BisectedParts, bisected } from './bisected.ts';
import { type CompletedParts, completed } from './completed.ts';
import { type CoveredParts, covered } from './covered.ts';
import { createDataCalls } from './data-calls.ts';
import type { Planning } from './estimate.ts';
import type { Fetch } from './fetch.ts';
import { planned } from './planned.ts';

export interface DataFetchParts extends Omit<CompletedParts, 'calls'>, CoveredParts, Planning, BisectedParts {
  readonly send: Send;
  readonly now: () => number;
}

/** Fetches demands of the service in the fewest calls that its limits allow. */
export function createDataFetch(parts: DataFetchParts): Fetch {
  const calls = createDataCalls(parts);
  const asked = bisected(calls.askWithLimit, parts);
  return planned(covered(completed(asked, { ...parts, calls }), parts), parts);
}
