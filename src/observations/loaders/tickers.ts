import type { TickersParams } from '../../service/endpoints.ts';
import type { TickerRecord } from '../../service/records/reference.ts';

export interface TickerLoader {
  /**
   * Returns the listings that pass the filter. All filters of an operation are met by one list if the service gives it
   * whole. The list tells its own lack: rows that can't be read, or lack the field of a filter.
   * @throws Failure UPSTREAM_INCOMPLETE if the service cuts the list and takes no filter that would complete it
   */
  where(filter: {
    readonly exchangeCode?: string | null | undefined;
    readonly countryCode?: string | null | undefined;
    readonly instrumentType?: string | null | undefined;
  }): Promise<readonly TickerRecord[]>;
  /**
   * Returns one listing, by its exchange and symbol in any case; null if a whole list has none.
   * @throws Failure UPSTREAM_INCOMPLETE if it is not among the rows that came, and more may not have come;
   * UPSTREAM_INVALID_RESPONSE if it may be among rows that can't be read
   */
  find(exchangeCode: string, symbol: string): Promise<TickerRecord | null>;
}

type TickerParameter = keyof TickersParams;

/** Milliseconds for which it counts that a parameter is of no use. */
const MEMORY_MS = 10 * 60_000;

export type TickersLearned = ReturnType<typeof createTickersLearned>;

/** Keeps the facts that the answers have taught about the route. All callers share them. */
export function createTickersLearned(now: () => number) {
  const uselessUntilMs = new Map<TickerParameter, number>();
  return {
    /** True if the list is longer than a default page, and `limit` brings more of it: calls begin with `limit`. */
    needsLimit: false,
    /** True if totals have turned out to count the rows sent, so that one that is met says nothing. */
    areTotalsCapped: false,
    /** Tells of a parameter if it is refused, or makes no difference. Found out anew after a while. */
    isUseless: (parameter: TickerParameter) =>
      now() < (uselessUntilMs.get(parameter) ?? Number.NEGATIVE_INFINITY),
    learnUseless(parameter: TickerParameter): void {
      uselessUntilMs.set(parameter, now() + MEMORY_MS);
    },
  };
}
