import type { Clock } from '../async/clock.ts';
import type { Failure } from '../errors.ts';
import type { Demand } from '../plan/demand.ts';
import type { Planning } from '../plan/modes.ts';
import type { Send, Sending } from '../service/call.ts';
import type { Ask, ListCache } from '../service/lists.ts';
import type { ObservationRecord } from '../service/records/observations.ts';
import type { Lookups } from '../store/lru.ts';
import type { Ledger } from '../tenants/ledger.ts';
import type { InFlight, TenantCache } from '../tenants/tenant-cache.ts';
import type { ObservationEntries, Outcome, RefusedNames, SeveralFigures } from './entries.ts';

/** The parts that figures are found with. Pricing takes the same, with stand-ins for those that ask or keep. */
export interface FiguresParts extends Planning {
  /** Sends a call to the service, by all stages on the way there. */
  readonly send: Send;
  /** Asks for lists, and has `learned` note the names in them. */
  readonly ask: Ask;
  readonly now: () => number;
  readonly clock: Clock;
  readonly tenantCache: TenantCache;
  readonly freshness: ListCache['freshness'];
  readonly entries: ObservationEntries;
  /** Keeps the figures of an answer, also of pairs that nobody wanted. */
  readonly keep: ObservationEntries['keep'];
  /** Demands that others who share the store are fetching. */
  readonly inFlight: InFlight;
  /** Entries that others have fetched. */
  readonly othersEntries: ObservationEntries;
  /** Milliseconds for which others' entries count for operations that come later. */
  readonly othersTtlMs: number;
  readonly refusedNames: RefusedNames;
  readonly outage: { failure(): Failure | null };
  readonly ledger: Ledger;
  /** Milliseconds that operations wait for each other. */
  readonly windowMs: number;
  /** Milliseconds that a batch waits for operations that can still add to it. */
  readonly holdMs: number;
  /** True if a call may be spent on a look at the sources. Results of earlier looks are used all the same. */
  readonly mayRenew: boolean;
  /** Demands remembered, of all keys, that may go along with others; 0 if nothing is held. */
  readonly maxAskedLately: number;
  /** Counts lookups among the entries. */
  readonly lookups?: Lookups | undefined;
  /** Called with each demand that an entry meets. */
  readonly onHeld?: (demand: Demand) => void;
  /** Called if entries that are past their time may yet be found to hold. */
  readonly onExpired?: () => void;
  /** Called with the rows of each answer, and the number of them that nobody had asked for. */
  readonly onRows?: ((received: number, unwanted: number) => void) | undefined;
  /** Called with each batch that is sent. */
  readonly onBatch?: ((size: BatchSize) => void) | undefined;
  /** Called with the milliseconds that a batch has waited for a minute window. */
  readonly onMinuteWait?: ((waitedMs: number) => void) | undefined;
}

/** A batch that leaves. */
export interface BatchSize {
  /** Operations that wait for some of its demands. */
  readonly operations: number;
  readonly demands: number;
}

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
  readonly several: SeveralFigures;
}
