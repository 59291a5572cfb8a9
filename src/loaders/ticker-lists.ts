import { Failure } from '../errors.ts';
import type { Ask } from '../upstream/cached.ts';
import type { Sending } from '../upstream/call.ts';
import { type TickersParams, tickers } from '../upstream/endpoints.ts';
import type { TickerList } from '../upstream/records/markets.ts';

/** Rows after which routes are seen to end if no `limit` is given, or none is heeded. */
export const DEFAULT_ROWS = 100;
/** The highest limit that the route is seen to take. */
const MAX_ROWS = 500;

/** Facts that the answers have taught about the route. Shared by all callers. */
export interface TickersLearned {
  /** True if the list is longer than a default page, and `limit` brings more of it: calls begin with `limit`. */
  needsLimit: boolean;
  /** True if totals have turned out to count the rows sent, so that one that is met says nothing. */
  areTotalsCapped: boolean;
  /** Tells of a parameter if it is refused, or makes no difference. Found out anew after a while. */
  isUseless(parameter: TickerParameter): boolean;
  learnUseless(parameter: TickerParameter): void;
}

export type TickerParameter = keyof TickersParams;

/** Milliseconds for which it is remembered that a parameter is of no use. */
const MEMORY_MS = 10 * 60_000;

export function createTickersLearned(now: () => number): TickersLearned {
  const uselessUntilMs = new Map<TickerParameter, number>();
  return {
    needsLimit: false,
    areTotalsCapped: false,
    isUseless: (parameter) => now() < (uselessUntilMs.get(parameter) ?? Number.NEGATIVE_INFINITY),
    learnUseless(parameter) {
      uselessUntilMs.set(parameter, now() + MEMORY_MS);
    },
  };
}

/** Copies the facts that are known now; one operation adds to them for itself alone. */
export function ownCopy({ needsLimit, areTotalsCapped, isUseless }: TickersLearned): TickersLearned {
  const useless = new Set<TickerParameter>();
  return {
    needsLimit,
    areTotalsCapped,
    isUseless: (parameter) => useless.has(parameter) || isUseless(parameter),
    learnUseless: (parameter) => useless.add(parameter),
  };
}

/** Listings that pass a filter, as far as they came. */
export interface TickerPart extends TickerList {
  readonly isWhole: boolean;
}

/** Extent of a list, by its length: it is all, it was cut, or it may have been. */
type ListExtent = 'whole' | 'cut' | 'doubtful';

/** Asks for listings, for nothing twice. */
export interface TickerFetch {
  /** Returns the first answer to a call for all listings, which may have been cut. */
  first(): Promise<TickerList>;
  /**
   * Returns the listings that pass a filter.
   * @param isLong true if the list is taken to be longer than a default page, so that `limit` saves a call
   * @returns null if the service refuses the filter
   */
  all(filter: TickersParams, isLong: boolean): Promise<TickerPart | null>;
}

/**
 * Asks for listings. The route is promised neither counts nor pages, so a list that is as long as a limit may be cut
 * and is looked into: it is whole if `limit` is shown to be heeded, or the service's own total says so.
 */
export function createTickerFetch(askOne: Ask, sending: Sending, learned: TickersLearned): TickerFetch {
  const asked = new Map<string, Promise<TickerList>>();
  let isLimitShown = false;

  function ask(params: TickersParams): Promise<TickerList> {
    const name = nameOf(params);
    let asking = asked.get(name);
    if (asking === undefined) {
      asking = Promise.resolve(askOne(tickers, params, sending)).then((list) => list ?? NO_LISTINGS);
      asked.set(name, asking);
    }
    return asking;
  }

  /** Asks as `ask` does; null if the service refuses the parameters. */
  const tryToAsk = async (params: TickersParams) => {
    try {
      return await ask(params);
    } catch (error) {
      if (error instanceof Failure && error.code === 'BAD_USER_INPUT') return null;
      throw error;
    }
  };

  /** Returns true if a call for one row brings one, so that an answer below its limit is all there is. */
  async function isLimitHeeded(): Promise<boolean> {
    return (await tryToAsk({ limit: 1 }))?.received === 1;
  }

  const isLimitUseless = () => learned.isUseless('limit');

  async function first(): Promise<TickerList> {
    const limited = learned.needsLimit && !isLimitUseless() ? await tryToAsk({ limit: MAX_ROWS }) : null;
    return limited ?? ask({});
  }

  async function all(filter: TickersParams, isLong: boolean): Promise<TickerPart | null> {
    const isUnfiltered = Object.keys(filter).length === 0;
    const askPlainly = () => (isUnfiltered ? ask(filter) : tryToAsk(filter));
    let plain: TickerList | null | undefined;
    if (!isLong || isLimitUseless()) {
      plain = await askPlainly();
      if (plain === null || isLimitUseless() || extentOf(plain, undefined) === 'whole') return partOf(plain);
    }
    const limited = await tryToAsk({ ...filter, limit: MAX_ROWS });
    if (limited === null) {
      learned.learnUseless('limit');
      return partOf(plain === undefined ? await askPlainly() : plain);
    }
    if (plain?.total != null && plain.total < limited.received) learned.areTotalsCapped = true;
    if (limited.received > DEFAULT_ROWS && limited.received <= MAX_ROWS) {
      isLimitShown = true;
      learned.needsLimit = true;
    }
    const extent = extentOf(limited, MAX_ROWS);
    if (extent === 'whole' || isSaidWhole(limited)) return { ...limited, isWhole: true };
    if (extent === 'cut') return { ...limited, isWhole: false };
    const isWhole = isLimitShown || (await isLimitHeeded());
    if (!isWhole) learned.learnUseless('limit');
    return { ...limited, isWhole };
  }

  /** Returns true if the service's own count says that this is all. */
  function isSaidWhole({ received, total }: TickerList): boolean {
    return total !== null && total <= received && !learned.areTotalsCapped;
  }

  function partOf(plain: TickerList | null): TickerPart | null {
    return plain && { ...plain, isWhole: extentOf(plain, undefined) === 'whole' || isSaidWhole(plain) };
  }

  return { first, all };
}

/** Names parameters, the same in any order. */
export function nameOf(params: TickersParams): string {
  return JSON.stringify(Object.entries(params).sort());
}

const NO_LISTINGS: TickerList = { rows: [], received: 0, total: null, limit: null };

/** @param asked the limit that was asked for */
function extentOf({ received, total, limit }: TickerList, asked: number | undefined): ListExtent {
  if (total !== null && total > received) return 'cut';
  if (limit !== null && received >= limit) return asked === undefined ? 'doubtful' : 'cut';
  if (asked !== undefined && received === asked) return 'cut';
  // The service says that it has applied the limit, and the list is shorter.
  if (limit !== null && limit === asked) return 'whole';
  return received === DEFAULT_ROWS ? 'doubtful' : 'whole';
}
