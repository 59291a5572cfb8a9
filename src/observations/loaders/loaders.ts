import DataLoader from 'dataloader';
import type { ResponsePath } from 'graphql';
import { createObjectMemo } from '../../cache/lru.ts';
import type { Tenant } from '../../keys/tenant.ts';
import { NO_TENANT_CACHE } from '../../keys/tenant-cache.ts';
import { cachedRecords } from '../../service/cached-answers.ts';
import type { Ask, ListCache } from '../../service/cached-lists.ts';
import { type Endpoint, makeCall } from '../../service/call.ts';
import * as service from '../../service/endpoints.ts';
import { COVERED_COUNTRIES, type CountryRecord } from '../../service/records/countries.ts';
import { leftOutOf, notFoundIn, withLeftOut } from '../../service/records/envelope.ts';
import type { ObservationRecord } from '../../service/records/observations.ts';
import type { IndicatorRecord } from '../../service/records/reference.ts';
import type { LeftOutRows, Sending } from '../../service/sending.ts';
import { mapValue, type PromiseOrValue } from '../../shared/async/turns.ts';
import { Failure, type FailureCode } from '../../shared/errors.ts';
import type { Figures, Outcome } from '../entries.ts';
import type { Demand } from '../planner/demand.ts';
import type { Dimension, Learned } from '../planner/learned.ts';
import type { BatchGate } from './batch-gate.ts';
import { type CallOrder, createCallOrder } from './call-order.ts';
import type { Effort } from './effort.ts';
import { createObservationLoader } from './observations.ts';
import type { TickerLoader, TickersLearned } from './tickers.ts';

/** Names that, at no call, are known to be all there are. */
interface CachedNames extends Pick<CachedList<unknown>, 'freshUntilMs' | 'atMs'> {
  readonly route: string;
  /** Names in the list's spelling. */
  readonly names: readonly string[];
  /** True if there may be something of the name, in any case. */
  has(name: string): boolean;
}

/** Finds the names of a list that is cached for a key; null if none is cached, or it may be incomplete. */
type FindCachedNames = (dimension: Dimension, tenant: Tenant) => PromiseOrValue<CachedNames | null>;

/** Records that are cached of an endpoint, and may be served without asking until an instant. */
interface CachedList<Result> {
  readonly records: Result;
  readonly freshUntilMs: number;
  /** Instant at which the service sent them. */
  readonly atMs: number;
}

/** Looks for fresh records of an endpoint, and never asks for them; null if the service would have to be asked. */
function createCachedList<Params, Result>(
  endpoint: Endpoint<Params, Result>,
  params: Params,
  { tenantCache, freshness, now }: ListCache,
): (tenant: Tenant) => PromiseOrValue<CachedList<Result> | null> {
  const call = makeCall(endpoint, params);
  return (tenant) => {
    if (tenantCache === NO_TENANT_CACHE) return null;
    const listOf = (
      entry: Awaited<ReturnType<typeof cachedRecords<Params, Result>>>,
    ): CachedList<Result> | null => {
      // A store elsewhere tells with the entry if the key is accepted.
      if (entry === null || entry.records === null || !tenantCache.isAccepted(tenant)) return null;
      const { records, atMs, answer } = entry;
      const { ttlMs } = freshness;
      const isAnyAge = ttlMs === Number.POSITIVE_INFINITY;
      const freshUntilMs = atMs + (isAnyAge ? ttlMs : Math.min(answer.allowedMs ?? ttlMs, ttlMs));
      return now() < freshUntilMs ? { records, freshUntilMs, atMs } : null;
    };
    const entry = cachedRecords(endpoint, params, call, tenant, tenantCache);
    return entry instanceof Promise ? entry.then(listOf) : listOf(entry);
  };
}

type NamedList = readonly { readonly code?: string; readonly key?: string }[];

/** Length of a list that the service may have cut without saying so. */
const USUAL_ROWS = 100;

/**
 * Milliseconds for which a missing list counts as missing, if a look for it takes a round trip to the store. Only a
 * call for a name that may be unknown depends on it, and most operations name something.
 */
const NOTHING_MS = 1_000;

const ROUTES = { countries: service.countries.route, metrics: service.indicators.route } as const;

const folded = createObjectMemo<ReadonlySet<string>>('names');

/**
 * Finds the names that are cached. A list that had records left out may lack their names. If figures have come for a name
 * that a list lacks, it doesn't list everything that has figures: then no name is known to be missing.
 */
export function createCachedNames(cache: ListCache, { figured }: Learned): FindCachedNames {
  const { tenantCache, now } = cache;
  const find: Readonly<Record<Dimension, (tenant: Tenant) => PromiseOrValue<CachedList<NamedList> | null>>> =
    {
      countries: createCachedList(service.countries, {}, cache),
      metrics: createCachedList(service.indicators, {}, cache),
    };
  /** The instant and the generation at which a look for a list has found none. */
  type Missed = { readonly atMs: number; readonly generation: number };
  const missed = {
    countries: createObjectMemo<Missed>('no countries'),
    metrics: createObjectMemo<Missed>('no metrics'),
  };

  function look(dimension: Dimension, tenant: Tenant): PromiseOrValue<CachedList<NamedList> | null> {
    if (tenantCache.isAtHand) return find[dimension](tenant);
    const miss = missed[dimension].of(tenant);
    const generation = tenantCache.generation(tenant);
    if (miss?.generation === generation && now() - miss.atMs < NOTHING_MS) return null;
    return mapValue(find[dimension](tenant), (cachedList) => {
      if (cachedList === null) missed[dimension].put(tenant, { atMs: now(), generation });
      return cachedList;
    });
  }

  function namesIn(dimension: Dimension, cachedList: CachedList<NamedList> | null): CachedNames | null {
    if (cachedList === null) return null;
    const list = cachedList.records;
    if (list.length === 0 || list.length === USUAL_ROWS || leftOutOf(list) !== null) return null;
    const names = list.map(({ code, key }) => code ?? key ?? '');
    const all = folded.of(list) ?? new Set(names.map((name) => name.toUpperCase()));
    folded.put(list, all);
    const has = (name: string) => all.has(name.toUpperCase());
    for (const name of figured[dimension]) if (!has(name)) return null;
    const { freshUntilMs, atMs } = cachedList;
    return { freshUntilMs, atMs, route: ROUTES[dimension], names, has };
  }

  return (dimension, tenant) => {
    const cachedList = look(dimension, tenant);
    return cachedList instanceof Promise
      ? cachedList.then((list) => namesIn(dimension, list))
      : namesIn(dimension, cachedList);
  };
}

/** Notes the names in the lists that go by: the service knows them, so they are the last to be suspected of a refusal. */
export function noteNamesStage(ask: Ask, learned: Learned): Ask {
  const { listed } = learned;
  /** Lists seen before: a cached list is served again and again. */
  const noted = createObjectMemo<true>('noted');
  const isNew = (list: object) => {
    const isKnown = noted.of(list) === true;
    noted.put(list, true);
    return !isKnown;
  };
  return (endpoint, params, sending, maxAgeMs) =>
    mapValue(ask(endpoint, params, sending, maxAgeMs), (result) => {
      if (result === null || typeof result !== 'object') return result;
      if (endpoint.route === service.countries.route && isNew(result)) {
        const codes = (result as readonly CountryRecord[]).map(({ code }) => code);
        for (const code of codes) listed.countries.add(code);
        learned.learnCountryCodes(codes);
      }
      if (endpoint.route === service.indicators.route && isNew(result)) {
        // A measure without data may be unknown to the data endpoint.
        for (const { key, hasData } of result as readonly IndicatorRecord[]) {
          if (hasData !== false) listed.metrics.add(key);
        }
      }
      return result;
    });
}

interface Doubt {
  path: ResponsePath | null;
  /** `open` until an outcome has come: no figure at all (`none`), or one (`over`). */
  state: 'open' | 'none' | 'over';
}

/**
 * Metrics that one operation asks for though nothing tells that there are such: if the service has no figure of one for
 * any country that is asked for, nobody can tell a gap from a misspelt key.
 */
function createDoubts({ listed, figured }: Learned) {
  let doubts: Map<string, Doubt> | undefined;

  // A key in another case is known if the service takes it: then figures come of it.
  const isKnown = (key: string) => listed.metrics.has(key) || figured.metrics.has(key);
  const isCountry = (code: string) => listed.countries.size === 0 || listed.countries.has(code);

  const state = {
    /** Number of doubts that a figure may still put an end to. */
    left: 0,
    /**
     * Notes that keys are asked for, but none that a list or a figure has shown to be known.
     * @param path of the field that they are for; left out if that isn't resolved yet
     * @returns true if any is doubted for the first time in the operation
     */
    raise(keys: readonly string[], path?: () => ResponsePath): boolean {
      let isFirst = false;
      for (const key of keys) {
        const doubt = doubts?.get(key);
        if (doubt !== undefined) doubt.path ??= path?.() ?? null;
        else if (!isKnown(key)) {
          isFirst ||= doubts === undefined;
          doubts ??= new Map();
          doubts.set(key, { path: path?.() ?? null, state: 'open' });
          state.left += 1;
        }
      }
      return isFirst;
    },
    settle(demands: readonly Demand[], outcomes: readonly Outcome[]): void {
      for (let i = 0; state.left > 0 && i < demands.length; i += 1) {
        const { metricKey, countryCode } = demands[i] as Demand;
        const doubt = doubts?.get(metricKey);
        if (doubt === undefined || doubt.state === 'over') continue;
        const outcome = outcomes[i] as Outcome;
        // An error may be one that nobody is told of: the error of a figure which others were to be compared with.
        if (outcome instanceof Error) continue;
        if (outcome.length > 0) {
          doubt.state = 'over';
          state.left -= 1;
        } else if (isCountry(countryCode)) doubt.state = 'none';
      }
    },
    /** Returns the keys without any figure, errors aside, in the order they were asked for, each with its first field. */
    absent(): readonly (readonly [key: string, path: ResponsePath])[] {
      const keys: [string, ResponsePath][] = [];
      for (const [key, { path, state: notes }] of doubts ?? [])
        if (notes === 'none' && path !== null && !listed.metrics.has(key)) keys.push([key, path]);
      return keys;
    },
  };
  return state;
}

export interface LoadersParts {
  readonly ask: Ask;
  readonly sending: Sending;
  /** Source of this operation's figures. */
  readonly figures: Figures;
  readonly batchGate: BatchGate;
  readonly effort: Effort;
  readonly tickersLearned: TickersLearned;
  readonly learned: Learned;
  /** True if calls are plenty for a key; left out if they are in any case. */
  readonly hasPlenty?: ((tenant: Tenant) => boolean) | undefined;
  /** True if a call for a key may be spent on a guess; left out if none may. */
  readonly mayGuess?: ((tenant: Tenant) => boolean) | undefined;
  /** Left out if nothing is cached. */
  readonly cachedNames?: FindCachedNames | undefined;
}

/** Has an operation note the rows and records that it was told of as they came. */
function createAnswerNotes(sending: Sending) {
  /** Failures of records that are served past their time: hardly any operation has some. */
  let staleness: Map<object, FailureCode> | undefined;
  const leftOut: LeftOutRows[] = [];
  const listening: Sending = {
    ...sending,
    onStale(records, why) {
      if (typeof records !== 'object' || records === null) return;
      staleness ??= new Map();
      staleness.set(records, why);
    },
    onLeftOut: (rows) => void leftOut.push(rows),
  };
  const notes = {
    /** Returns the rows of answers to this operation that belong to no figure that can be asked for. */
    leftOut: (): readonly LeftOutRows[] => leftOut,
    /** Tells of rows that came as part of a record: they are as old as it is. */
    cameWith(record: object, rows: readonly ObservationRecord[]): void {
      const why = staleness?.get(record);
      if (why !== undefined) for (const row of rows) staleness?.set(row, why);
    },
    /** Returns the code of the failure for which a row past its time was served all the same; null if it wasn't. */
    staleness: (row: ObservationRecord): FailureCode | null => staleness?.get(row) ?? null,
  };
  return { sending: listening, notes };
}

/**
 * Creates the loaders of one operation, one for each kind of record. Nothing is asked for twice. Each use counts on the
 * bill as the call that a field fetching for itself would have sent.
 */
export function createLoaders(parts: LoadersParts) {
  const { ask, hasPlenty, batchGate } = parts;
  const { tenant } = parts.sending.caller;
  const isShort = () => hasPlenty !== undefined && !hasPlenty(tenant);
  const order = createCallOrder(parts.sending.payer, isShort, batchGate);
  const { sending, notes } = createAnswerNotes({ ...parts.sending, payer: order.payer });
  const list = <Result>(endpoint: Endpoint<service.NoParams, Result>) =>
    later(() => ask(endpoint, {}, sending) as PromiseOrValue<Result>);
  const counted =
    <Args extends unknown[], Result>(load: (...args: Args) => Result) =>
    (...args: Args): Result => {
      sending.bill.naive += 1;
      return load(...args);
    };
  const countries = list(service.countries);
  const listsAtHand = new Map<Dimension, Exclude<Awaited<ReturnType<FindCachedNames>>, null>>();
  const sources = list(service.etlStatus);
  const catalogue = later(() => createCatalogue(ask, sending));
  const tickers = later(async () => {
    const { createTickerLoader } = await import('./listings.ts');
    return createTickerLoader(ask, sending, parts.tickersLearned);
  });
  const tickerLoader: TickerLoader = {
    where: counted((filter) =>
      order.leads(
        service.tickers.route,
        tickers().then((loader) => loader.where(filter)),
      ),
    ),
    find: counted((exchangeCode, symbol) =>
      order.leads(
        service.tickers.route,
        tickers().then((loader) => loader.find(exchangeCode, symbol)),
      ),
    ),
  };
  const doubts = createDoubts(parts.learned);

  return {
    load: createEndpointLoader(ask, sending, order),
    countries: counted(countries),
    sources: counted(sources),
    indicators: counted((filter?: service.IndicatorsParams) => catalogue()(filter)),
    country: { load: counted(finding(countries, ({ code }) => code)) },
    source: { load: counted(finding(sources, ({ key }) => key)) },
    indicator: {
      load: counted(
        finding(
          later(() => catalogue()()),
          ({ key }) => key,
        ),
      ),
    },
    tickers: tickerLoader,
    /** Names in the lists that the service has given so far, to anybody; none before it has. Asks for nothing. */
    listed: parts.learned.listed,
    /** Names that figures have come for so far, to anybody. Asks for nothing. */
    figured: parts.learned.figured,
    doubts,
    /** Returns the countries that the list will most likely have, in its order if one has come. Asks for nothing. */
    expectedCountries() {
      const { countryCodes } = parts.learned;
      const areListed = countryCodes.size > 0;
      return { codes: areListed ? countryCodes : COVERED_COUNTRIES, areListed };
    },
    /**
     * Returns true if a call may be spent on a guess, to save a round trip.
     * @param isAlone true if no other operation of the key may share the call
     */
    mayGuess(isAlone: boolean): boolean {
      return (!isAlone || tenant.operations <= 1) && parts.mayGuess?.(tenant) === true;
    },
    /** Returns the names of a list that is cached: looks once, as soon as there is a list at hand. Asks for nothing. */
    cachedNames(dimension: Dimension) {
      const names = listsAtHand.get(dimension) ?? parts.cachedNames?.(dimension, tenant) ?? null;
      if (names !== null && !(names instanceof Promise)) listsAtHand.set(dimension, names);
      return names;
    },
    /** Counts that some of the answer follows from cached names. */
    servedBy({ freshUntilMs, route, atMs }: CachedNames): void {
      sending.bill.cached += 1;
      sending.onCached?.(freshUntilMs, route, atMs, atMs);
    },
    observations: { ...createObservationLoader({ ...parts, sending, order }, doubts), ...notes },
  };
}

/** Asks an endpoint for each answer once, however many want it. */
function createEndpointLoader(ask: Ask, sending: Sending, order: CallOrder) {
  // biome-ignore lint/suspicious/noExplicitAny: each endpoint has parameters and results of its own
  const loaders = new Map<unknown, DataLoader<any, any, string>>();

  function loaderOf<Params, Result>(endpoint: Endpoint<Params, Result>) {
    let loader: DataLoader<Params, Result | null, string> | undefined = loaders.get(endpoint);
    loader ??= new DataLoader(
      async (asked) => {
        const turn = order.turnOfRecords();
        if (turn !== undefined) await turn;
        return Promise.all(
          asked
            .map(async (params) => ask(endpoint, params, sending))
            .map((answered) => answered.catch(asError)),
        );
      },
      { cacheKeyFn: (params) => makeCall(endpoint, params).target },
    );
    loaders.set(endpoint, loader);
    return loader;
  }

  /** Returns null if the service has no record for the parameters. */
  return <Params, Result>(endpoint: Endpoint<Params, Result>, params: Params): Promise<Result | null> => {
    sending.bill.naive += 1;
    return loaderOf(endpoint).load(params);
  };
}

/** Records of a list by their keys. */
const indexes = createObjectMemo<ReadonlyMap<string, unknown>>('index');

function finding<Value>(
  list: () => PromiseOrValue<readonly Value[]>,
  keyOf: (value: Value) => string,
): (key: string) => PromiseOrValue<Value | null> {
  const find = (values: readonly Value[], key: string) => {
    let index = indexes.of(values) as ReadonlyMap<string, Value> | undefined;
    if (index === undefined) {
      index = new Map(values.map((value) => [keyOf(value), value]));
      indexes.put(values, index);
    }
    return index.get(key) ?? notFoundIn(values);
  };
  return (key) => mapValue(list(), (values) => find(values, key));
}

/**
 * Loads the catalogue, which answers every filter at once. The service is asked for the filtered list only if the
 * catalogue's items lack the field of the filter.
 */
function createCatalogue(ask: Ask, sending: Sending) {
  const listed = (filter: service.IndicatorsParams) =>
    mapValue(ask(service.indicators, filter, sending), (list) => list ?? []);
  const whole = later(() => listed({}));
  const filtered = new Map<string, PromiseOrValue<readonly IndicatorRecord[]>>();

  return ({ category, hasData }: service.IndicatorsParams = {}) =>
    mapValue(whole(), (all): PromiseOrValue<readonly IndicatorRecord[]> => {
      if (category === undefined && hasData === undefined) return all;
      const says = (field: 'category' | 'hasData') => all.every((item) => item[field] !== null);
      if ((category === undefined || says('category')) && (hasData === undefined || says('hasData'))) {
        const chosen = all.filter(
          (item) =>
            (category === undefined || item.category?.toLowerCase() === category.toLowerCase()) &&
            (hasData === undefined || item.hasData === hasData),
        );
        return withLeftOut(chosen, leftOutOf(all));
      }
      const name = JSON.stringify([category, hasData]);
      const list = filtered.get(name) ?? listed({ category, hasData });
      filtered.set(name, list);
      return list;
    });
}

/** Makes a value when it is first wanted, once: most operations load one kind of record, or two. */
function later<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    if (made === undefined) made = make();
    return made;
  };
}

/** Makes an Error of a thrown value, as DataLoader takes for a key that failed. */
function asError(error: unknown): Error {
  return error instanceof Error
    ? error
    : new Failure('UPSTREAM_UNAVAILABLE', 'The call was given up.', {}, { cause: error });
}
