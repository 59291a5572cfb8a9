import { Failure } from '../errors.ts';
import type { Ask } from '../upstream/cached.ts';
import type { Sending } from '../upstream/call.ts';
import { type TickersParams, tickers } from '../upstream/endpoints.ts';
import { type LeftOut, leftOutOf, sumOf, withLeftOut } from '../upstream/records/left-out.ts';
import { type TickerRecord, unreadIn } from '../upstream/records/markets.ts';

/** Rows after which the route is seen to end when no `limit` is given, and the highest limit it is seen to take. */
const DEFAULT_ROWS = 100;
const MAX_ROWS = 500;

export interface TickerFilter {
  readonly exchangeCode?: string | null | undefined;
  readonly countryCode?: string | null | undefined;
  readonly instrumentType?: string | null | undefined;
}

/** What the answers have taught about the route: whether to ask with `limit` from the start. Shared by all callers. */
export interface TickersLearned {
  needsLimit: boolean;
}

export interface TickerLoader {
  /**
   * The listings that pass the filter. All filters of an operation are met by one list where the service gives it
   * whole. What it lacks of them it says of itself: rows that can't be read, or don't say what is filtered by.
   * @throws Failure UPSTREAM_INCOMPLETE where the service cuts the list and takes no filter that would complete it
   */
  where(filter: TickerFilter): Promise<readonly TickerRecord[]>;
}

/** The route has neither counts nor pages, so a list that is as long as a limit may be cut and is looked into. */
export function createTickerLoader(askOne: Ask, sending: Sending, learned: TickersLearned): TickerLoader {
  let list: Promise<{ rows: readonly TickerRecord[]; isWhole: boolean }> | undefined;
  const parts = new Map<string, Promise<readonly TickerRecord[]>>();

  const ask = async (params: TickersParams) => (await askOne(tickers, params, sending))?.rows ?? [];

  /** As `ask`, and null where the service refuses the parameters. */
  const tryToAsk = async (params: TickersParams) => {
    try {
      return await ask(params);
    } catch (error) {
      if (error instanceof Failure && error.code === 'BAD_USER_INPUT') return null;
      throw error;
    }
  };

  async function fetchList(): Promise<{ rows: readonly TickerRecord[]; isWhole: boolean }> {
    if (!learned.needsLimit) {
      const rows = await ask({});
      if (sentIn(rows) !== DEFAULT_ROWS) return { rows, isWhole: true };
    }
    const rows = await tryToAsk({ limit: MAX_ROWS });
    if (rows === null) return { rows: await ask({}), isWhole: false };
    if (sentIn(rows) > DEFAULT_ROWS) learned.needsLimit = true;
    if (sentIn(rows) !== DEFAULT_ROWS) return { rows, isWhole: sentIn(rows) < MAX_ROWS };
    // Still exactly a default page: whole if the service heeds limits at all.
    const one = await tryToAsk({ limit: 1 });
    return { rows, isWhole: one?.length === 1 };
  }

  function partOf(
    filter: { exchangeCode: string } | { countryCode: string },
  ): Promise<readonly TickerRecord[]> {
    const name = JSON.stringify(filter);
    let part = parts.get(name);
    if (part === undefined) {
      part = tryToAsk({ ...filter, limit: MAX_ROWS }).then((rows) => {
        if (rows === null || sentIn(rows) >= MAX_ROWS || !rows.every((row) => passes(row, filter))) {
          throw incomplete(rows?.length ?? 0);
        }
        return rows;
      });
      parts.set(name, part);
    }
    return part;
  }

  return {
    async where(filter) {
      list ??= fetchList();
      const { rows, isWhole } = await list;
      if (isWhole) return chosen(rows, filter);
      if (filter.countryCode != null) {
        return chosen(await partOf({ countryCode: filter.countryCode }), filter);
      }
      if (filter.exchangeCode != null) {
        return chosen(await partOf({ exchangeCode: filter.exchangeCode }), filter);
      }
      throw incomplete(rows.length);
    },
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

/** Rows that were sent, with those that can't be read. */
function sentIn(rows: readonly TickerRecord[]): number {
  return rows.length + (leftOutOf(rows)?.count ?? 0);
}

function incomplete(received: number): Failure {
  return new Failure(
    'UPSTREAM_INCOMPLETE',
    'The service cut the list of listings short. Ask for one exchange or one country.',
    { route: tickers.route, received, total: null },
  );
}
