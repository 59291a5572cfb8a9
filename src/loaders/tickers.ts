import { Failure } from '../errors.ts';
import type { Ask } from '../upstream/cached.ts';
import type { Sending } from '../upstream/call.ts';
import { type TickersParams, tickers } from '../upstream/endpoints.ts';
import { type LeftOut, leftOutOf, notFoundIn, sumOf, withLeftOut } from '../upstream/records/left-out.ts';
import { type TickerList, type TickerRecord, unreadIn } from '../upstream/records/markets.ts';

/** Rows after which the route is seen to end when no `limit` is given, and the highest limit it is seen to take. */
const DEFAULT_ROWS = 100;
const MAX_ROWS = 500;

/** Values of one filter by which a list that was cut is asked for in pieces. */
const MAX_PIECES = 20;

export interface TickerFilter {
  readonly exchangeCode?: string | null | undefined;
  readonly countryCode?: string | null | undefined;
  readonly instrumentType?: string | null | undefined;
}

type FilterName = keyof TickerFilter;

/** What the answers have taught about the route. Shared by all callers. */
export interface TickersLearned {
  /** The list is longer than a default page, and `limit` brings more of it: calls begin with `limit`. */
  needsLimit: boolean;
  /** Totals have turned out to count the rows sent, so that one that is met says nothing. */
  areTotalsCapped: boolean;
  /** `limit` is refused, or makes no difference. Found out anew after a while. */
  isLimitUseless: boolean;
}

/** How long it is remembered that `limit` is of no use. */
const MEMORY_MS = 10 * 60_000;

export function createTickersLearned(now: () => number): TickersLearned {
  let uselessUntilMs = Number.NEGATIVE_INFINITY;
  return {
    needsLimit: false,
    areTotalsCapped: false,
    get isLimitUseless() {
      return now() < uselessUntilMs;
    },
    set isLimitUseless(isUseless) {
      uselessUntilMs = isUseless ? now() + MEMORY_MS : Number.NEGATIVE_INFINITY;
    },
  };
}

export interface TickerLoader {
  /**
   * The listings that pass the filter. All filters of an operation are met by one list where the service gives it
   * whole. What it lacks of them it says of itself: rows that can't be read, or don't say what is filtered by.
   * @throws Failure UPSTREAM_INCOMPLETE where the service cuts the list and takes no filter that would complete it
   */
  where(filter: TickerFilter): Promise<readonly TickerRecord[]>;
  /**
   * One listing, by its exchange and symbol in any case; null where a whole list has none.
   * @throws Failure UPSTREAM_INCOMPLETE where it is not in what came, and more may not have come;
   * UPSTREAM_INVALID_RESPONSE where it may be among rows that can't be read
   */
  find(exchangeCode: string, symbol: string): Promise<TickerRecord | null>;
}

/** Listings that pass a filter, as far as they came. */
interface Part extends TickerList {
  readonly isWhole: boolean;
}

/** What a list's length says: that it is all, that it was cut, or that it may have been. */
type Extent = 'whole' | 'cut' | 'doubtful';

/**
 * The route is promised neither counts nor pages, so a list that is as long as a limit may be cut and is looked into: it
 * is whole where `limit` is shown to be heeded, or the service's own total says so, or else completed by filters that are
 * shown to be heeded.
 */
export function createTickerLoader(askOne: Ask, sending: Sending, learned: TickersLearned): TickerLoader {
  let list: Promise<Part> | undefined;
  let probe: Promise<boolean> | undefined;
  /** Null where the service refuses the filter, or doesn't heed it. */
  const parts = new Map<string, Promise<Part | null>>();
  const ignored = new Set<FilterName>();
  let isLimitShown = false;

  const ask = async (params: TickersParams): Promise<TickerList> =>
    (await askOne(tickers, params, sending)) ?? NO_LISTINGS;

  /** As `ask`, and null where the service refuses the parameters. */
  const tryToAsk = async (params: TickersParams) => {
    try {
      return await ask(params);
    } catch (error) {
      if (error instanceof Failure && error.code === 'BAD_USER_INPUT') return null;
      throw error;
    }
  };

  /** Whether a call for one row brings one, so that an answer below its limit is all there is. */
  function isLimitHeeded(): Promise<boolean> {
    probe ??= tryToAsk({ limit: 1 }).then((one) => one?.received === 1);
    return probe;
  }

  /** @param isLong whether the list is taken to be longer than a default page, so that `limit` saves a call */
  async function fetch(filter: TickersParams, isLong: boolean): Promise<Part | null> {
    const isUnfiltered = Object.keys(filter).length === 0;
    const askPlainly = () => (isUnfiltered ? ask(filter) : tryToAsk(filter));
    let plain: TickerList | null | undefined;
    if (!isLong || learned.isLimitUseless) {
      plain = await askPlainly();
      if (plain === null || learned.isLimitUseless || extentOf(plain, undefined) === 'whole')
        return partOf(plain);
    }
    const limited = await tryToAsk({ ...filter, limit: MAX_ROWS });
    if (limited === null) {
      learned.isLimitUseless = true;
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
    if (!isWhole) learned.isLimitUseless = true;
    return { ...limited, isWhole };
  }

  /** Whether the service's own count says that this is all. */
  function isSaidWhole({ received, total }: TickerList): boolean {
    return total !== null && total <= received && !learned.areTotalsCapped;
  }

  function partOf(plain: TickerList | null): Part | null {
    return plain && { ...plain, isWhole: extentOf(plain, undefined) === 'whole' || isSaidWhole(plain) };
  }

  function fetchList(): Promise<Part> {
    list ??= fetch({}, learned.needsLimit) as Promise<Part>;
    return list;
  }

  /** What the service has for a filter; null where it doesn't take it, or answers as if it were not there. */
  function fetchPart(filter: TickersParams): Promise<Part | null> {
    const name = JSON.stringify(Object.entries(filter).sort());
    let part = parts.get(name);
    if (part === undefined) {
      part = fetchList().then(async ({ rows }) => {
        const found = await fetch(filter, true);
        if (found === null || !isHeeded(filter, found, rows)) {
          const [only, ...others] = Object.keys(filter) as FilterName[];
          if (only !== undefined && others.length === 0) ignored.add(only);
          return null;
        }
        return found;
      });
      parts.set(name, part);
    }
    return part;
  }

  /** All that is wanted and more, as little more as it takes to have it whole; else as much as there was to be had. */
  async function gather(wanted: TickerFilter): Promise<Part> {
    let best = await fetchList();
    let bestFilter: TickersParams = {};
    if (best.isWhole) return best;
    for (const filter of narrowings(spelt(wanted, best.rows))) {
      if (Object.keys(filter).some((name) => ignored.has(name as FilterName))) continue;
      const part = await fetchPart(filter);
      if (part?.isWhole) return part;
      if (part !== null) [best, bestFilter] = [part, filter];
    }
    return (await inPieces(best, bestFilter)) ?? best;
  }

  /** A list that was cut, put together from what other filters leave of it; null where its total doesn't prove the sum. */
  async function inPieces(cut: Part, filter: TickersParams): Promise<Part | null> {
    if (cut.total === null || cut.total <= cut.received) return null;
    for (const name of ['exchangeCode', 'instrumentType'] as const) {
      if (filter[name] !== undefined || ignored.has(name)) continue;
      const values = [...new Set(cut.rows.flatMap((row) => row[name] ?? []))];
      if (values.length < 2 || values.length > MAX_PIECES) continue;
      const pieces: Part[] = [];
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
      const part = await gather({ exchangeCode });
      const found = part.rows.find(isWanted) ?? (await fetchList()).rows.find(isWanted);
      if (found === undefined && !part.isWhole) throw incomplete(part);
      return found ?? notFoundIn(part.rows);
    },
  };
}

function joined(pieces: readonly Part[]): readonly TickerRecord[] {
  return withLeftOut(
    pieces.flatMap(({ rows }) => rows),
    sumOf(pieces.map(({ rows }) => leftOutOf(rows))),
  );
}

const NO_LISTINGS: TickerList = { rows: [], received: 0, total: null, limit: null };

/** @param asked the limit that was asked for */
function extentOf({ received, total, limit }: TickerList, asked: number | undefined): Extent {
  if (total !== null && total > received) return 'cut';
  if (limit !== null && received >= limit) return asked === undefined ? 'doubtful' : 'cut';
  if (asked !== undefined && received === asked) return 'cut';
  // The service says that it has applied the limit, and the list is shorter.
  if (limit !== null && limit === asked) return 'whole';
  return received === DEFAULT_ROWS ? 'doubtful' : 'whole';
}

/**
 * Whether an answer shows that a filter was heeded: all of it passes, and it lacks nothing that is known to pass.
 * @param known listings that came without a filter
 */
function isHeeded(filter: TickersParams, { rows, received }: Part, known: readonly TickerRecord[]): boolean {
  if (!rows.every((row) => passes(row, filter))) return false;
  const names = new Set(rows.map(nameOf));
  return received >= DEFAULT_ROWS || known.every((row) => !passes(row, filter) || names.has(nameOf(row)));
}

function nameOf({ exchangeCode, symbol }: TickerRecord): string {
  return `${exchangeCode} ${symbol}`;
}

/** What to ask for, widest first, so that one answer can meet several fields. */
function narrowings({ exchangeCode, countryCode, instrumentType }: TickersParams): TickersParams[] {
  const country = countryCode === undefined ? [] : [{ countryCode }];
  const exchange = exchangeCode === undefined ? [] : [{ exchangeCode }];
  const both = exchangeCode === undefined || countryCode === undefined ? [] : [{ exchangeCode, countryCode }];
  const wide = [...country, ...exchange, ...both];
  if (instrumentType === undefined) return wide;
  return wide.length === 0
    ? [{ instrumentType }]
    : [...wide, ...wide.map((filter) => ({ ...filter, instrumentType }))];
}

/** A filter as it is sent. Kinds of listings are spelt as the service spells them, where it has shown how. */
function spelt(
  { exchangeCode, countryCode, instrumentType }: TickerFilter,
  known: readonly TickerRecord[],
): TickersParams {
  const mode = known.find((row) => passes(row, { instrumentType }))?.instrumentType ?? instrumentType;
  return {
    ...(exchangeCode == null ? {} : { exchangeCode: exchangeCode.toUpperCase() }),
    ...(countryCode == null ? {} : { countryCode: countryCode.toUpperCase() }),
    ...(instrumentType == null || mode == null ? {} : { instrumentType: mode }),
  };
}

function chosen(rows: readonly TickerRecord[], filter: TickerFilter): readonly TickerRecord[] {
  const leftOut = sumOf([leftOutOf(rows), undecided(rows, filter)]);
  return withLeftOut(
    rows.filter((row) => passes(row, filter)),
    leftOut,
  );
}

/** What is left out for not saying what is filtered by, where it may pass. */
function undecided(rows: readonly TickerRecord[], filter: TickerFilter): LeftOut | null {
  const faults = rows.flatMap((row) => {
    const unread = FILTERED.filter((field) => filter[field] != null && unreadIn(row, field, tickers.route));
    const [field] = unread;
    if (field === undefined) return [];
    const others = { ...filter, ...Object.fromEntries(unread.map((name) => [name, null])) };
    return passes(row, others) ? (unreadIn(row, field, tickers.route) ?? []) : [];
  });
  const [first] = faults;
  return first ? { count: faults.length, first } : null;
}

/** Filters of fields that a listing may lack. */
const FILTERED = ['countryCode', 'instrumentType'] as const;

function passes(row: TickerRecord, { exchangeCode, countryCode, instrumentType }: TickerFilter): boolean {
  return (
    (exchangeCode == null || row.exchangeCode.toUpperCase() === exchangeCode.toUpperCase()) &&
    (countryCode == null || row.countryCode === countryCode.toUpperCase()) &&
    (instrumentType == null || row.instrumentType?.toUpperCase() === instrumentType.toUpperCase())
  );
}

function incomplete({ received, total }: TickerList): Failure {
  return new Failure(
    'UPSTREAM_INCOMPLETE',
    'The service cut the list of listings short. Ask for one exchange or one country.',
    { route: tickers.route, received, total },
  );
}
