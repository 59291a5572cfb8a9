import type { TickerRecord } from '../../service/records/reference.ts';

export interface TickerFilter {
  readonly exchangeCode?: string | null | undefined;
  readonly countryCode?: string | null | undefined;
  readonly instrumentType?: string | null | undefined;
}

export interface TickerLoader {
  /**
   * Returns the listings that pass the filter. All filters of an operation are met by one list if the service gives it
   * whole. The list tells its own lack: rows that can't be read, or lack the field of a filter.
   * @throws Failure UPSTREAM_INCOMPLETE if the service cuts the list and takes no filter that would complete it
   */
  where(filter: TickerFilter): Promise<readonly TickerRecord[]>;
  /**
   * Returns one listing, by its exchange and symbol in any case; null if a whole list has none.
   * @throws Failure UPSTREAM_INCOMPLETE if it is not among the rows that came, and more may not have come;
   * UPSTREAM_INVALID_RESPONSE if it may be among rows that can't be read
   */
  find(exchangeCode: string, symbol: string): Promise<TickerRecord | null>;
}

/** Facts that the answers have taught about the route. All callers share them. */
export interface TickersLearned {
  /** True if the list is longer than a default page, and `limit` brings more of it: calls begin with `limit`. */
  needsLimit: boolean;
}
