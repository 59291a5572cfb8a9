import type { Tenant } from '../../keys/tenant.ts';
import type { Ask } from '../../service/cached-lists.ts';
import { tickers } from '../../service/endpoints.ts';
import { COVERED_COUNTRIES } from '../../service/records/countries.ts';
import type { Sending } from '../../service/sending.ts';
import type { Figures } from '../fetch.ts';
import type { Dimension, Learned } from '../planner/learned.ts';
import { createAnswerNotes } from './answer-notes.ts';
import type { BatchGate } from './batch-gate.ts';
import type { CachedNames, FindCachedNames } from './cached-names.ts';
import { createCallOrder } from './call-order.ts';
import { createDoubts } from './doubts.ts';
import type { Effort } from './effort.ts';
import { createEndpointLoader } from './endpoint-loader.ts';
import { createLists } from './lists.ts';
import { createObservationLoader } from './observations.ts';
import type { FiguresRoom } from './outcomes.ts';
import type { TickerLoader, TickersLearned } from './tickers.ts';

export interface LoadersParts {
  readonly ask: Ask;
  readonly sending: Sending;
  readonly figures: Figures;
  readonly batchGate: BatchGate;
  readonly effort: Effort;
  /** Left out if nothing is made. */
  readonly room?: FiguresRoom | undefined;
  readonly tickersLearned: TickersLearned;
  readonly learned: Learned;
  /** True if calls are plenty for a key; left out if they always are. */
  readonly hasPlenty?: ((tenant: Tenant) => boolean) | undefined;
  /** True if a call may be spent that may turn out needless; left out if none may. */
  readonly mayGoAhead?: ((tenant: Tenant) => boolean) | undefined;
  /** Left out if nothing is cached. */
  readonly cachedNames?: FindCachedNames | undefined;
  /** Called with the route of each cached list whose names have answered something. */
  readonly onNames?: ((route: string) => void) | undefined;
}

/**
 * The loaders of one operation. Nothing is asked for twice. Each use counts on the bill as the call that a field
 * fetching for itself would have sent.
 */
export function createLoaders(parts: LoadersParts) {
  const { ask, hasPlenty, batchGate } = parts;
  const { tenant } = parts.sending.caller;
  const isShort = () => hasPlenty !== undefined && !hasPlenty(tenant);
  const order = createCallOrder(parts.sending.payer, isShort, batchGate);
  const { sending: listening, notes } = createAnswerNotes({ ...parts.sending, payer: order.payer });
  const lists = createLists(ask, listening);
  const sending = { ...listening, lists: () => lists };
  const doubts = createDoubts(parts.learned);
  const load = createEndpointLoader(ask, sending, order);
  const observations = { ...createObservationLoader({ ...parts, sending, order }, doubts), ...notes };
  const counted =
    <Args extends unknown[], Result>(load: (...args: Args) => Result) =>
    (...args: Args): Result => {
      sending.bill.naive += 1;
      return load(...args);
    };
  const listsAtHand = new Map<Dimension, Exclude<Awaited<ReturnType<FindCachedNames>>, null>>();
  let loadingTickers: Promise<TickerLoader> | undefined;
  const withTickers = <Result>(load: (loader: TickerLoader) => Promise<Result>): Promise<Result> => {
    loadingTickers ??= import('./listings.ts').then(({ createTickerLoader }) =>
      createTickerLoader(ask, sending, parts.tickersLearned),
    );
    return order.leads(tickers.route, loadingTickers.then(load));
  };
  const tickerLoader: TickerLoader = {
    where: counted((filter) => withTickers((loader) => loader.where(filter))),
    find: counted((exchangeCode, symbol) => withTickers((loader) => loader.find(exchangeCode, symbol))),
  };

  return {
    load,
    countries: counted(lists.countries),
    sources: counted(lists.sources),
    indicators: counted(lists.indicators),
    country: { load: counted(lists.country) },
    source: { load: counted(lists.source) },
    indicator: { load: counted(lists.indicator) },
    tickers: tickerLoader,
    /** Names in all lists so far, of any caller. Asks for nothing. */
    listed: parts.learned.listed,
    /** Names of all figures so far, of any caller. Asks for nothing. */
    figured: parts.learned.figured,
    doubts,
    /** The countries that the list will most likely have, in its order if one has come. Asks for nothing. */
    expectedCountries() {
      const { countryCodes } = parts.learned;
      const areListed = countryCodes.size > 0;
      return { codes: areListed ? countryCodes : COVERED_COUNTRIES, areListed };
    },
    /** True if figures may be fetched before the list that confirms their countries. */
    mayGoAhead: (): boolean => parts.mayGoAhead?.(tenant) === true,
    /** Caches the names once a list is at hand. Asks for nothing. */
    cachedNames(dimension: Dimension) {
      const names = listsAtHand.get(dimension) ?? parts.cachedNames?.(dimension, tenant) ?? null;
      if (names !== null && !(names instanceof Promise)) listsAtHand.set(dimension, names);
      return names;
    },
    /** Bills an answer that follows from cached names. */
    servedBy({ freshUntilMs, route, atMs }: CachedNames): void {
      sending.bill.cached += 1;
      sending.onCached?.(freshUntilMs, route, atMs, atMs);
      parts.onNames?.(route);
    },
    observations,
  };
}
