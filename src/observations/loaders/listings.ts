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
import type { TickerFilter, TickerLoader, TickersLearned } from './tickers.ts';

/** Fields of a filter, as the service spells them. */
const FIELDS = {
  exchangeCode: ['exchange_code'],
  countryCode: ['country_code', 'country'],
  instrumentType: ['instrument_type'],
} as const;

type Field = keyof typeof FIELDS;

/** The failure if a listing would pass but for a field that it lacks. */
function judge(row: TickerRecord, filter: TickerFilter): boolean | Failure {
  let failure: Failure | null = null;
  for (const [field, names] of Object.entries(FIELDS) as [Field, readonly [string, ...string[]]][]) {
    const wanted = filter[field]?.toUpperCase();
    const value = row[field]?.toUpperCase();
    if (wanted === undefined || value === wanted) continue;
    // Null means that there is none.
    if (value !== undefined || names.some((name) => row.record[name] === null)) return false;
    const [name] = names;
    failure ??= invalid(
      { route: tickers.route, path: name },
      `expected string, received ${kindOf(row.record[name])}`,
    );
  }
  return failure ?? true;
}

const passes = (filter: TickerFilter) => (row: TickerRecord) => judge(row, filter) === true;

/** Listings that may pass but lack a field are left out, and reported so. */
function matching(rows: readonly TickerRecord[], filter: TickerFilter): readonly TickerRecord[] {
  const undecided = rows.map((row) => judge(row, filter)).filter((verdict) => verdict instanceof Failure);
  const [first] = undecided;
  const lacking = first === undefined ? null : { count: undecided.length, first };
  return withLeftOut(rows.filter(passes(filter)), sumOf([leftOutOf(rows), lacking]));
}

/** Filters to ask with, widest first, so that one answer can serve several fields. */
function narrowings(wanted: TickerFilter): TickersParams[] {
  const given = (...fields: readonly Field[]): TickersParams =>
    Object.fromEntries(fields.flatMap((name) => (wanted[name] ? [[name, wanted[name].toUpperCase()]] : [])));
  const filters = [
    given('countryCode'),
    given('exchangeCode'),
    given('countryCode', 'exchangeCode'),
    given('countryCode', 'exchangeCode', 'instrumentType'),
  ];
  const byName = new Map(filters.map((filter) => [JSON.stringify(filter), filter]));
  byName.delete('{}');
  return [...byName.values()];
}

/** Observed length of a list if no `limit` is given, or none is heeded. */
const DEFAULT_ROWS = 100;
/** Highest limit that the route is known to take. */
const MAX_ROWS = 500;

interface TickerPart extends TickerList {
  readonly isWhole: boolean;
}

const NO_LISTINGS: TickerList = { rows: [], received: 0, total: null, limit: null };

/**
 * True if a list is whole by its length, false if it was cut, null if that is unknown.
 * @param asked the limit that was asked for
 */
function isAll({ received, total, limit }: TickerList, asked?: number): boolean | null {
  if ((total !== null && total > received) || received === asked) return false;
  if (limit !== null && received >= limit) return asked === undefined ? null : false;
  // The list is shorter than the limit that the service says it applied.
  if (limit !== null && limit === asked) return true;
  return received === DEFAULT_ROWS ? null : true;
}

/** At the highest limit, the count may be that of the rows sent. */
function isSaidWhole({ received, total }: TickerList): boolean {
  return total !== null && total <= received && received !== MAX_ROWS;
}

/**
 * Serves all filters of an operation from one list, and asks for nothing twice. The route promises neither counts nor
 * pages, so a list as long as a limit may be cut: it is whole if `limit` is shown to be heeded, or by the service's
 * own total. A cut list is asked for by filters that are shown to be heeded.
 */
export function createTickerLoader(askOne: Ask, sending: Sending, learned: TickersLearned): TickerLoader {
  const asked = new Map<string, Promise<TickerList | null>>();
  let limitEffect: 'unknown' | 'heeded' | 'none' = 'unknown';

  /** Null if the service refuses the parameters. */
  function ask(params: TickersParams): Promise<TickerList | null> {
    const name = JSON.stringify(Object.entries(params).sort());
    const pending = asked.get(name) ?? askAnew(params);
    asked.set(name, pending);
    return pending;
  }

  async function askAnew(params: TickersParams): Promise<TickerList | null> {
    try {
      return (await askOne(tickers, params, sending)) ?? NO_LISTINGS;
    } catch (error) {
      const isRefused = error instanceof Failure && error.code === 'BAD_USER_INPUT';
      if (!isRefused || Object.keys(params).length === 0) throw error;
      return null;
    }
  }

  const partOf = (list: TickerList | null, limit?: number): TickerPart | null =>
    list && { ...list, isWhole: isAll(list, limit) === true || isSaidWhole(list) };

  /**
   * Null if the service refuses the filter.
   * @param isLong true if the list is longer than a default page, so that `limit` saves a call
   */
  async function fetchPart(filter: TickersParams, isLong: boolean): Promise<TickerPart | null> {
    const plain = isLong && limitEffect !== 'none' ? undefined : await ask(filter);
    if (plain === null || (plain && (limitEffect === 'none' || isAll(plain)))) return partOf(plain);
    const limited = await ask({ ...filter, limit: MAX_ROWS });
    if (limited === null) {
      limitEffect = 'none';
      return partOf(plain ?? (await ask(filter)));
    }
    if (limited.received > DEFAULT_ROWS && limited.received <= MAX_ROWS) {
      limitEffect = 'heeded';
      learned.needsLimit = true;
    }
    const part = partOf(limited, MAX_ROWS);
    if (isAll(limited, MAX_ROWS) !== null || part?.isWhole) return part;
    // If a call for one row brings one, limits are heeded.
    if (limitEffect === 'unknown')
      limitEffect = (await ask({ limit: 1 }))?.received === 1 ? 'heeded' : 'none';
    return { ...limited, isWhole: limitEffect === 'heeded' };
  }

  let list: Promise<TickerPart> | undefined;

  function fetchList(): Promise<TickerPart> {
    list ??= fetchPart({}, learned.needsLimit) as Promise<TickerPart>;
    return list;
  }

  /** Everything wanted with as little more as makes it whole; otherwise as much as could be had. */
  async function gather(wanted: TickerFilter): Promise<TickerPart> {
    const all = await fetchList();
    let best = all;
    for (const filter of all.isWhole ? [] : narrowings(wanted)) {
      const part = await fetchPart(filter, true);
      if (part === null || !isHeeded(filter, part, all.rows)) continue;
      if (part.isWhole) return part;
      best = part;
    }
    return best;
  }

  const met = new Map<string, Promise<readonly TickerRecord[]>>();

  async function fetchMatching(filter: TickerFilter): Promise<readonly TickerRecord[]> {
    const part = await gather(filter);
    if (!part.isWhole) throw incomplete(part);
    return matching(part.rows, filter);
  }

  return {
    where({ exchangeCode, countryCode, instrumentType }) {
      // A thousand listings may each ask for those of their country.
      const name = JSON.stringify([exchangeCode, countryCode, instrumentType]);
      const pendingRows = met.get(name) ?? fetchMatching({ exchangeCode, countryCode, instrumentType });
      met.set(name, pendingRows);
      return pendingRows;
    },
    async find(exchangeCode, symbol) {
      const isInExchange = passes({ exchangeCode });
      const isWanted = (row: TickerRecord) =>
        isInExchange(row) && row.symbol.toUpperCase() === symbol.toUpperCase();
      // A listing that came exists, whatever else is missing.
      const first = await ask(learned.needsLimit ? { limit: MAX_ROWS } : {});
      const early = first?.rows.find(isWanted);
      if (early !== undefined) return early;
      const part = await gather({ exchangeCode });
      const match = part.rows.find(isWanted) ?? (await fetchList()).rows.find(isWanted);
      if (match === undefined && !part.isWhole) throw incomplete(part);
      return match ?? notFoundIn(part.rows);
    },
  };
}

/**
 * True if an answer shows that its filter was heeded: all rows pass, and none that is known to pass is missing.
 * @param tickers listings that came without a filter
 */
function isHeeded(
  filter: TickersParams,
  { rows, received }: TickerPart,
  tickers: readonly TickerRecord[],
): boolean {
  if (!rows.every(passes(filter))) return false;
  const names = new Set(rows.map(listingOf));
  return received >= DEFAULT_ROWS || tickers.filter(passes(filter)).every((row) => names.has(listingOf(row)));
}

function listingOf({ exchangeCode, symbol }: TickerRecord): string {
  return `${exchangeCode} ${symbol}`;
}

function incomplete({ received, total }: TickerList): Failure {
  return new Failure(
    'UPSTREAM_INCOMPLETE',
    'The service truncated the list of listings. Ask for one exchange or one country.',
    { route: tickers.route, received, total },
  );
}
