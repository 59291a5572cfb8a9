import type { Ask } from '../../service/cached-lists.ts';
import { type TickersParams, tickers } from '../../service/endpoints.ts';
import {
  invalid,
  kindOf,
  leftOutOf,
  notFoundIn,
  sumOf,
  withLeftOut,
} from '../../service/records/envelope.ts';
import type { TickerList, TickerRecord } from '../../service/records/reference.ts';
import type { Sending } from '../../service/sending.ts';
import { Failure } from '../../shared/errors.ts';
import type { TickerLoader, TickersLearned } from './tickers.ts';

type Filter = Parameters<TickerLoader['where']>[0];

type FilterName = keyof Filter;

/** Returns the filters to ask with, widest first, so that one answer can meet several fields. */
function narrowings({ exchangeCode, countryCode, instrumentType }: TickersParams): TickersParams[] {
  const country = countryCode === undefined ? [] : [{ countryCode }];
  const exchange = exchangeCode === undefined ? [] : [{ exchangeCode }];
  const both = country.flatMap((one) => exchange.map((other) => ({ ...one, ...other })));
  const wide = [...country, ...exchange, ...both];
  if (instrumentType === undefined) return wide;
  return [...wide, ...(wide.length === 0 ? [{}] : wide).map((filter) => ({ ...filter, instrumentType }))];
}

/** Spells a filter as it is sent. Kinds of listings are spelt as the service spells them, if it has shown how. */
function spelt(
  { exchangeCode, countryCode, instrumentType }: Filter,
  tickers: readonly TickerRecord[],
): TickersParams {
  const type = tickers.find((row) => passes(row, { instrumentType }))?.instrumentType ?? instrumentType;
  return {
    ...(exchangeCode == null ? {} : { exchangeCode: exchangeCode.toUpperCase() }),
    ...(countryCode == null ? {} : { countryCode: countryCode.toUpperCase() }),
    ...(instrumentType == null || type == null ? {} : { instrumentType: type }),
  };
}

/** Returns the listings that pass a filter; a listing that may pass and doesn't say so is left out, and told. */
function chosen(rows: readonly TickerRecord[], filter: Filter): readonly TickerRecord[] {
  const leftOut = sumOf([leftOutOf(rows), undecided(rows, filter)]);
  return withLeftOut(
    rows.filter((row) => passes(row, filter)),
    leftOut,
  );
}

/** Counts the listings that are left out since they lack the field of the filter, and might pass. */
function undecided(rows: readonly TickerRecord[], filter: Filter) {
  const errors = rows.flatMap((row) => {
    const unread = FILTERED.filter((field) => filter[field] != null && unreadIn(row, field, tickers.route));
    const [field] = unread;
    if (field === undefined) return [];
    const widerFilter = { ...filter, ...Object.fromEntries(unread.map((name) => [name, null])) };
    return passes(row, widerFilter) ? (unreadIn(row, field, tickers.route) ?? []) : [];
  });
  const [first] = errors;
  return first ? { count: errors.length, first } : null;
}

/** Filters of fields that a listing may lack. */
const FILTERED = ['countryCode', 'instrumentType'] as const;

function passes(row: TickerRecord, { exchangeCode, countryCode, instrumentType }: Filter): boolean {
  return (
    (exchangeCode == null || row.exchangeCode.toUpperCase() === exchangeCode.toUpperCase()) &&
    (countryCode == null || row.countryCode === countryCode.toUpperCase()) &&
    (instrumentType == null || row.instrumentType?.toUpperCase() === instrumentType.toUpperCase())
  );
}

/** Rows after which routes are seen to end if no `limit` is given, or none is heeded. */
export const DEFAULT_ROWS = 100;
/** The highest limit that the route is seen to take. */
const MAX_ROWS = 500;

interface TickerPart extends TickerList {
  readonly isWhole: boolean;
}

/** Extent of a list, by its length: it is all, it was cut, or it may have been. */
type ListExtent = 'whole' | 'cut' | 'doubtful';

/**
 * Asks for listings, for nothing twice. The route is promised neither counts nor pages, so a list that is as long as
 * a limit may be cut and is looked into: it is whole if `limit` is shown to be heeded, or the service's own total
 * says so.
 */
function createTickerFetch(askOne: Ask, sending: Sending, learned: TickersLearned) {
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

  /** Returns the first answer to a call for all listings, which may have been cut. */
  async function first(): Promise<TickerList> {
    const limited = learned.needsLimit && !isLimitUseless() ? await tryToAsk({ limit: MAX_ROWS }) : null;
    return limited ?? ask({});
  }

  /**
   * Returns the listings that pass a filter; null if the service refuses it.
   * @param isLong true if the list is taken to be longer than a default page, so that `limit` saves a call
   */
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

function nameOf(params: TickersParams): string {
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

/** Meets all filters of an operation with one list. If the service cuts it, it is asked for by filters that are shown to be heeded. */
export function createTickerLoader(ask: Ask, sending: Sending, learned: TickersLearned): TickerLoader {
  const fetch = createTickerFetch(ask, sending, learned);
  let list: Promise<TickerPart> | undefined;
  /** Null if the service refuses the filter, or doesn't heed it. */
  const parts = new Map<string, Promise<TickerPart | null>>();

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
        const list = await fetch.all(filter, true);
        if (list !== null && isHeeded(filter, list, rows)) return list;
        const [only, ...rest] = Object.keys(filter) as FilterName[];
        if (only === undefined || rest.length > 0) return null;
        // Refused may be a value that the service doesn't know: then it has no listing.
        const isUnfit = list === null ? rows.some(isOf(filter)) : !list.rows.every(isOf(filter));
        if (isUnfit) learned.learnUseless(only);
        return null;
      });
      parts.set(name, part);
    }
    return part;
  }

  /** Returns all that is wanted, and as little more as makes it whole; otherwise as much as there was to be had. */
  async function gather(wanted: Filter): Promise<TickerPart> {
    let best = await fetchList();
    if (best.isWhole) return best;
    for (const filter of narrowings(spelt(wanted, best.rows))) {
      if ((Object.keys(filter) as FilterName[]).some(learned.isUseless)) continue;
      const part = await fetchPart(filter);
      if (part?.isWhole) return part;
      best = part ?? best;
    }
    return best;
  }

  /** The listings of each filter that was asked for. */
  const met = new Map<string, Promise<readonly TickerRecord[]>>();

  async function fetchMatching(filter: Filter): Promise<readonly TickerRecord[]> {
    const part = await gather(filter);
    if (!part.isWhole) throw incomplete(part);
    return chosen(part.rows, filter);
  }

  return {
    where({ exchangeCode, countryCode, instrumentType }) {
      // A country of a thousand listings is asked for its own a thousand times.
      const name = JSON.stringify([exchangeCode, countryCode, instrumentType]);
      const pendingRows = met.get(name) ?? fetchMatching({ exchangeCode, countryCode, instrumentType });
      met.set(name, pendingRows);
      return pendingRows;
    },
    async find(exchangeCode, symbol) {
      const isWanted = (row: TickerRecord) =>
        passes(row, { exchangeCode }) && row.symbol.toUpperCase() === symbol.toUpperCase();
      // A listing that came is there, though others may be lacking.
      const firstMatch = (await fetch.first()).rows.find(isWanted);
      if (firstMatch !== undefined) return firstMatch;
      const part = await gather({ exchangeCode });
      const match = part.rows.find(isWanted) ?? (await fetchList()).rows.find(isWanted);
      if (match === undefined && !part.isWhole) throw incomplete(part);
      return match ?? notFoundIn(part.rows);
    },
  };
}

const isOf = (filter: TickersParams) => (row: TickerRecord) => passes(row, filter);

/**
 * Returns true if an answer shows that a filter was heeded: all of it passes, and it lacks nothing that is known to
 * pass.
 * @param tickers listings that came without a filter
 */
function isHeeded(
  filter: TickersParams,
  { rows, received }: TickerPart,
  tickers: readonly TickerRecord[],
): boolean {
  if (!rows.every(isOf(filter))) return false;
  const names = new Set(rows.map(listingOf));
  return (
    received >= DEFAULT_ROWS || tickers.every((row) => !passes(row, filter) || names.has(listingOf(row)))
  );
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

const SPELT = {
  countryCode: ['country_code', 'country'],
  instrumentType: ['instrument_type'],
} as const;

/** Makes the failure of a listing's unknown field; null if the service says that there is nothing of it. */
function unreadIn(row: TickerRecord, field: keyof typeof SPELT, route: string): Failure | null {
  const [name] = SPELT[field];
  if (row[field] !== null || SPELT[field].some((spelt) => row.record[spelt] === null)) return null;
  return invalid({ route, path: name }, `expected string, received ${kindOf(row.record[name])}`);
}
