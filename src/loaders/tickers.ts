import { Failure } from '../errors.ts';
import type { Ask } from '../upstream/cached.ts';
import type { Sending } from '../upstream/call.ts';
import { type TickersParams, tickers } from '../upstream/endpoints.ts';
import { leftOutOf, notFoundIn, sumOf, withLeftOut } from '../upstream/records/left-out.ts';
import type { TickerList, TickerRecord } from '../upstream/records/markets.ts';
import { chosen, type FilterName, narrowings, passes, spelt, type TickerFilter } from './ticker-filters.ts';
import {
  createTickerFetch,
  DEFAULT_ROWS,
  nameOf,
  type TickerPart,
  type TickersLearned,
} from './ticker-lists.ts';

/** Values of one filter by which a list that was cut is asked for in pieces. */
const MAX_PIECES = 20;

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

/**
 * Meets all filters of an operation with one list. If the service cuts it, it is completed by filters that are shown to
 * be heeded, put together in pieces if need be.
 */
export function createTickerLoader(ask: Ask, sending: Sending, learned: TickersLearned): TickerLoader {
  const fetch = createTickerFetch(ask, sending, learned);
  let list: Promise<TickerPart> | undefined;
  /** Null if the service refuses the filter, or doesn't heed it. */
  const parts = new Map<string, Promise<TickerPart | null>>();
  /** Filters that left out listings which pass them and came before: these may be gone by now. */
  const doubtful = new Set<FilterName>();
  const isUseless = (name: FilterName) => doubtful.has(name) || learned.isUseless(name);

  function fetchList(): Promise<TickerPart> {
    list ??= fetch.all({}, learned.needsLimit) as Promise<TickerPart>;
    return list;
  }

  /** Returns the service's list for a filter; null if it doesn't take it, or answers as if it were not there. */
  function fetchPart(filter: TickersParams): Promise<TickerPart | null> {
    const name = nameOf(filter);
    let part = parts.get(name);
    if (part === undefined) {
      part = fetchList().then(async ({ rows }) => {
        const found = await fetch.all(filter, true);
        if (found !== null && isHeeded(filter, found, rows)) return found;
        const [only, ...others] = Object.keys(filter) as FilterName[];
        if (only === undefined || others.length > 0) return null;
        // Refused may be a value that the service doesn't know: then it has no listing.
        const isUnfit = found === null ? rows.some(isOf(filter)) : !found.rows.every(isOf(filter));
        if (isUnfit) learned.learnUseless(only);
        else if (found !== null) doubtful.add(only);
        return null;
      });
      parts.set(name, part);
    }
    return part;
  }

  /**
   * Returns all that is wanted and more, as little more as it takes to have it whole; else as much as there was to be
   * had.
   */
  async function gather(wanted: TickerFilter): Promise<TickerPart> {
    let best = await fetchList();
    let bestFilter: TickersParams = {};
    if (best.isWhole) return best;
    for (const filter of narrowings(spelt(wanted, best.rows))) {
      if ((Object.keys(filter) as FilterName[]).some(isUseless)) continue;
      const part = await fetchPart(filter);
      if (part?.isWhole) return part;
      if (part !== null) [best, bestFilter] = [part, filter];
    }
    return (await inPieces(best, bestFilter)) ?? best;
  }

  /** Puts a list that was cut together from its parts by other filters; null if its total doesn't prove the sum. */
  async function inPieces(cut: TickerPart, filter: TickersParams): Promise<TickerPart | null> {
    if (cut.total === null || cut.total <= cut.received) return null;
    for (const name of ['exchangeCode', 'instrumentType'] as const) {
      if (filter[name] !== undefined || isUseless(name)) continue;
      const values = [...new Set(cut.rows.flatMap((row) => row[name] ?? []))];
      if (values.length < 2 || values.length > MAX_PIECES) continue;
      const pieces: TickerPart[] = [];
      for (const value of values) {
        const piece = await fetchPart({ ...filter, [name]: value });
        if (!piece?.isWhole) break;
        pieces.push(piece);
      }
      const received = pieces.reduce((sum, piece) => sum + piece.received, 0);
      if (received === cut.total) return { ...cut, rows: joined(pieces), received, isWhole: true };
    }
    return null;
  }

  return {
    async where(filter) {
      const part = await gather(filter);
      if (!part.isWhole) throw incomplete(part);
      return chosen(part.rows, filter);
    },
    async find(exchangeCode, symbol) {
      const isWanted = (row: TickerRecord) =>
        passes(row, { exchangeCode }) && row.symbol.toUpperCase() === symbol.toUpperCase();
      // A listing that came is there, though others may be lacking.
      const there = (await fetch.first()).rows.find(isWanted);
      if (there !== undefined) return there;
      const part = await gather({ exchangeCode });
      const found = part.rows.find(isWanted) ?? (await fetchList()).rows.find(isWanted);
      if (found === undefined && !part.isWhole) throw incomplete(part);
      return found ?? notFoundIn(part.rows);
    },
  };
}

const isOf = (filter: TickersParams) => (row: TickerRecord) => passes(row, filter);

function joined(pieces: readonly TickerPart[]): readonly TickerRecord[] {
  return withLeftOut(
    pieces.flatMap(({ rows }) => rows),
    sumOf(pieces.map(({ rows }) => leftOutOf(rows))),
  );
}

/**
 * Returns true if an answer shows that a filter was heeded: all of it passes, and it lacks nothing that is known to
 * pass.
 * @param known listings that came without a filter
 */
function isHeeded(
  filter: TickersParams,
  { rows, received }: TickerPart,
  known: readonly TickerRecord[],
): boolean {
  if (!rows.every(isOf(filter))) return false;
  const names = new Set(rows.map(listingOf));
  return received >= DEFAULT_ROWS || known.every((row) => !passes(row, filter) || names.has(listingOf(row)));
}

function listingOf({ exchangeCode, symbol }: TickerRecord): string {
  return `${exchangeCode} ${symbol}`;
}

function incomplete({ received, total }: TickerList): Failure {
  return new Failure(
    'UPSTREAM_INCOMPLETE',
    'The service cut the list of listings short. Ask for one exchange or one country.',
    { route: tickers.route, received, total },
  );
}
