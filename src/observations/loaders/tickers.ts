import type { TickerRecord } from '../../service/records/reference.ts';

export interface TickerFilter {
  readonly exchangeCode?: string | null | undefined;
  readonly countryCode?: string | null | undefined;
  readonly instrumentType?: string | null | undefined;
}

export interface TickerLoader {
  /**
   * All filters of an operation are served from one list if the service sends it whole. The list says if it lacks
   * rows that can't be read, or that lack the field of a filter.
   * @throws Failure UPSTREAM_INCOMPLETE if the list is cut and no filter completes it
   */
  where(filter: TickerFilter): Promise<readonly TickerRecord[]>;
  /**
   * Exchange and symbol in any case; null if a whole list has none.
   * @throws Failure UPSTREAM_INCOMPLETE if it may be among rows that have not come; UPSTREAM_INVALID_RESPONSE if it
   * may be among rows that can't be read
   */
  find(exchangeCode: string, symbol: string): Promise<TickerRecord | null>;
}

/** Learnt from answers, shared by all callers. */
export interface TickersLearned {
  /** True if the list is longer than a default page, and `limit` brings more: calls begin with `limit`. */
  needsLimit: boolean;
}
