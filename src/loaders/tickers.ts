import { Failure } from '../errors.ts';
import type { Ask } from '../upstream/cached.ts';
import type { Sending } from '../upstream/call.ts';
import { type TickersParams, tickers } from '../upstream/endpoints.ts';
import type { TickerRecord } from '../upstream/records/markets.ts';

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
   * whole.
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
      if (rows.length !== DEFAULT_ROWS) return { rows, isWhole: true };
    }
    const rows = await tryToAsk({ limit: MAX_ROWS });
    if (rows === null) return { rows: await ask({}), isWhole: false };
    if (rows.length > DEFAULT_ROWS) learned.needsLimit = true;
    if (rows.length !== DEFAULT_ROWS) return { rows, isWhole: rows.length < MAX_ROWS };
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
        if (rows === null || rows.length >= MAX_ROWS || !rows.every((row) => passes(row, filter))) {
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
      const wanted = (row: TickerRecord) => passes(row, filter);
      if (isWhole) return rows.filter(wanted);
      if (filter.countryCode != null)
        return (await partOf({ countryCode: filter.countryCode })).filter(wanted);
      if (filter.exchangeCode != null)
        return (await partOf({ exchangeCode: filter.exchangeCode })).filter(wanted);
      throw incomplete(rows.length);
    },
  };
}

function passes(row: TickerRecord, { exchangeCode, countryCode, instrumentType }: TickerFilter): boolean {
  return (
    (exchangeCode == null || row.exchangeCode.toUpperCase() === exchangeCode.toUpperCase()) &&
    (countryCode == null || row.countryCode === countryCode.toUpperCase()) &&
    (instrumentType == null || row.instrumentType?.toUpperCase() === instrumentType.toUpperCase())
  );
}

function incomplete(received: number): Failure {
  return new Failure(
    'UPSTREAM_INCOMPLETE',
    'The service cut the list of listings short. Ask for one exchange or one country.',
    { route: tickers.route, received, total: null },
  );
}
