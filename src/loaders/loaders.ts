import DataLoader from 'dataloader';
import type { ResponsePath } from 'graphql';
import { mapValue, type PromiseOrValue } from '../async/turns.ts';
import { Failure } from '../errors.ts';
import type { Outcome } from '../figures/entries.ts';
import type { FindHeldNames, HeldNames } from '../figures/names.ts';
import type { Demand } from '../plan/demand.ts';
import type { Dimension, Learned } from '../plan/learned.ts';
import { type Endpoint, makeCall, type Sending } from '../service/call.ts';
import * as service from '../service/endpoints.ts';
import type { Ask } from '../service/lists.ts';
import type { IndicatorRecord, SourceRecord } from '../service/records/catalogue.ts';
import type { CountryRecord } from '../service/records/countries.ts';
import { leftOutOf, notFoundIn, withLeftOut } from '../service/records/envelope.ts';
import { createObjectMemo } from '../store/lru.ts';
import {
  createObservationLoader,
  type LoadersParts,
  type ObservationLoader,
  remembering,
} from './observations.ts';
import { createTickerLoader, type TickerLoader, type TickersLearned } from './tickers.ts';

/**
 * Metrics that one operation asks for though nothing tells that there are such: if the service has no figure of one for
 * any country that is asked for, nobody can tell a gap from a misspelt key.
 */
interface Doubts {
  /**
   * Notes that keys are asked for, but none that a list or a figure has shown to be known.
   * @param path of the field that they are for; left out if that isn't resolved yet
   * @returns true if any is doubted for the first time in the operation
   */
  raise(keys: readonly string[], path?: () => ResponsePath): boolean;
  /** Notes the outcomes of demands. */
  settle(demands: readonly Demand[], outcomes: readonly Outcome[]): void;
  /**
   * Returns the keys of which there is no figure, errors aside, in the order they were asked for, each with the first
   * field.
   */
  absent(): readonly (readonly [key: string, path: ResponsePath])[];
}

interface Doubt {
  path: ResponsePath | null;
  /** `open` until an outcome has come: no figure at all (`none`), or one (`over`). */
  state: 'open' | 'none' | 'over';
}

function createDoubts({ listed, figured }: Learned): Doubts {
  let doubts: Map<string, Doubt> | undefined;
  /** Number of doubts that a figure may still put an end to. */
  let left = 0;

  // A key in another case is known if the service takes it: then figures come of it.
  const isKnown = (key: string) => listed.metrics.has(key) || figured.metrics.has(key);
  const isCountry = (code: string) => listed.countries.size === 0 || listed.countries.has(code);

  return {
    raise(keys, path) {
      let isFirst = false;
      for (const key of keys) {
        const doubt = doubts?.get(key);
        if (doubt !== undefined) doubt.path ??= path?.() ?? null;
        else if (!isKnown(key)) {
          isFirst ||= doubts === undefined;
          doubts ??= new Map();
          doubts.set(key, { path: path?.() ?? null, state: 'open' });
          left += 1;
        }
      }
      return isFirst;
    },
    settle(demands, outcomes) {
      for (let i = 0; left > 0 && i < demands.length; i += 1) {
        const { metricKey, countryCode } = demands[i] as Demand;
        const doubt = doubts?.get(metricKey);
        if (doubt === undefined || doubt.state === 'over') continue;
        const outcome = outcomes[i] as Outcome;
        // An error may be one that nobody is told of: the error of a figure which others were to be compared with.
        if (outcome instanceof Error) continue;
        if (outcome.length > 0) {
          doubt.state = 'over';
          left -= 1;
        } else if (isCountry(countryCode)) doubt.state = 'none';
      }
    },
    absent() {
      const keys: [string, ResponsePath][] = [];
      for (const [key, { path, state }] of doubts ?? [])
        if (state === 'none' && path !== null && !listed.metrics.has(key)) keys.push([key, path]);
      return keys;
    },
  };
}

interface ByKey<Value> {
  load(key: string): PromiseOrValue<Value>;
}

/**
 * The loaders of one operation, one for each kind of record. Nothing is asked for twice. Each use counts on the bill as
 * the call that a field fetching for itself would have sent.
 */
export interface Loaders {
  /** Returns the answer of an endpoint; null if the service has no record for the parameters. */
  load<Params, Result>(endpoint: Endpoint<Params, Result>, params: Params): Promise<Result | null>;
  sources(): PromiseOrValue<readonly SourceRecord[]>;
  countries(): PromiseOrValue<readonly CountryRecord[]>;
  indicators(filter?: service.IndicatorsParams): PromiseOrValue<readonly IndicatorRecord[]>;
  readonly source: ByKey<SourceRecord | null>;
  readonly country: ByKey<CountryRecord | null>;
  readonly indicator: ByKey<IndicatorRecord | null>;
  readonly tickers: TickerLoader;
  readonly observations: ObservationLoader;
  /** Names in the lists that the service has given so far, to anybody; none before it has. Asks for nothing. */
  readonly listed: Learned['listed'];
  /** Names that figures have come for so far, to anybody. Asks for nothing. */
  readonly figured: Learned['figured'];
  readonly doubts: Doubts;
  /**
   * Returns the codes of the countries that the list will most likely have, in its order, if one more call is no
   * matter, so that their figures may be asked for already; else null. Asks for nothing.
   */
  expectedCountries(): readonly string[] | null;
  /**
   * Returns the names of a list that is held, as the operation may be answered by it; see {@link FindHeldNames}. Asks
   * for nothing.
   */
  heldNames(dimension: Dimension): PromiseOrValue<HeldNames | null>;
  /** Counts that some of the answer follows from held names. */
  servedBy(held: HeldNames): void;
}

export function createLoaders(parts: LoadersParts): Loaders {
  const { ask } = parts;
  const { sending, told } = remembering(parts.sending);
  const list = <Result>(endpoint: Endpoint<service.NoParams, Result>) =>
    once(() => ask(endpoint, {}, sending) as PromiseOrValue<Result>);
  const counted =
    <Args extends unknown[], Result>(load: (...args: Args) => Result) =>
    (...args: Args): Result => {
      sending.bill.naive += 1;
      return load(...args);
    };
  const countedByKey = <Value>(loader: ByKey<Value>): ByKey<Value> => ({
    load: counted((key) => loader.load(key)),
  });
  const countries = list(service.countries);
  const sources = list(service.etlStatus);
  const catalogue = later(() => createCatalogue(ask, sending));
  const tickers = later(() => createTickers(ask, sending, parts.tickersLearned));
  const doubts = createDoubts(parts.learned);
  const observations = createObservationLoader({ ...parts, sending }, told, doubts.settle);

  return {
    load: createEndpointLoader(ask, sending),
    countries: counted(countries),
    sources: counted(sources),
    indicators: counted((filter) => catalogue()(filter)),
    country: countedByKey(byKey(countries, ({ code }) => code)),
    source: countedByKey(byKey(sources, ({ key }) => key)),
    indicator: countedByKey(
      byKey(
        () => catalogue()(),
        ({ key }) => key,
      ),
    ),
    tickers: {
      where: counted((filter) => tickers().where(filter)),
      find: counted((exchangeCode, symbol) => tickers().find(exchangeCode, symbol)),
    },
    listed: parts.learned.listed,
    figured: parts.learned.figured,
    doubts,
    expectedCountries() {
      const { countryCodes } = parts.learned;
      const mayAsk = countryCodes.length > 0 && parts.hasPlenty?.(sending.caller.tenant) === true;
      return mayAsk ? countryCodes : null;
    },
    heldNames: (dimension) => parts.heldNames?.(dimension, sending.caller.tenant) ?? null,
    servedBy({ freshUntilMs }) {
      sending.bill.cached += 1;
      sending.onHeld?.(freshUntilMs);
    },
    observations,
  };
}

/** Asks an endpoint for each answer once, however many want it. */
function createEndpointLoader(ask: Ask, sending: Sending): Loaders['load'] {
  // biome-ignore lint/suspicious/noExplicitAny: each endpoint has parameters and results of its own
  const loaders = new Map<unknown, DataLoader<any, any, string>>();

  function loaderOf<Params, Result>(endpoint: Endpoint<Params, Result>) {
    let loader: DataLoader<Params, Result | null, string> | undefined = loaders.get(endpoint);
    loader ??= new DataLoader(
      (asked) =>
        Promise.all(
          asked
            .map(async (params) => ask(endpoint, params, sending))
            .map((answered) => answered.catch(asError)),
        ),
      { cacheKeyFn: (params) => makeCall(endpoint, params).target },
    );
    loaders.set(endpoint, loader);
    return loader;
  }

  return (endpoint, params) => {
    sending.bill.naive += 1;
    return loaderOf(endpoint).load(params);
  };
}

/** Records of a list by their keys. */
const indexes = createObjectMemo<ReadonlyMap<string, unknown>>('index');

/** Finds each record of a list by its key. */
function byKey<Value>(
  list: () => PromiseOrValue<readonly Value[]>,
  keyOf: (value: Value) => string,
): ByKey<Value | null> {
  const find = (values: readonly Value[], key: string) => {
    let index = indexes.of(values) as ReadonlyMap<string, Value> | undefined;
    if (index === undefined) {
      index = new Map(values.map((value) => [keyOf(value), value]));
      indexes.put(values, index);
    }
    return index.get(key) ?? notFoundIn(values);
  };
  return { load: (key) => mapValue(list(), (values) => find(values, key)) };
}

/**
 * Loads the catalogue, which answers every filter at once. The service is asked for the filtered list only if the
 * catalogue's items lack the field of the filter.
 */
function createCatalogue(ask: Ask, sending: Sending): Loaders['indicators'] {
  const listed = (filter: service.IndicatorsParams) =>
    mapValue(ask(service.indicators, filter, sending), (list) => list ?? []);
  const whole = once(() => listed({}));
  const filtered = new Map<string, PromiseOrValue<readonly IndicatorRecord[]>>();

  return ({ category, hasData } = {}) =>
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

/**
 * Loads the listings of each filter, chosen once: a country of a thousand listings is asked for its own a thousand
 * times.
 */
function createTickers(ask: Ask, sending: Sending, learned: TickersLearned): TickerLoader {
  const { where, find } = createTickerLoader(ask, sending, learned);
  return { where: onceEach(where), find };
}

/** Makes a value when it is first wanted: most operations load one kind of record, or two. */
function later<Value extends object>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function once<Value>(load: () => PromiseOrValue<Value>): () => PromiseOrValue<Value> {
  let loading: { readonly value: PromiseOrValue<Value> } | undefined;
  return () => {
    loading ??= { value: load() };
    return loading.value;
  };
}

function onceEach(where: TickerLoader['where']): TickerLoader['where'] {
  const chosen = new Map<string, ReturnType<TickerLoader['where']>>();
  return (filter) => {
    const { exchangeCode, countryCode, instrumentType } = filter;
    const name = JSON.stringify([exchangeCode, countryCode, instrumentType]);
    const known = chosen.get(name) ?? where(filter);
    chosen.set(name, known);
    return known;
  };
}

/**
 * Makes an Error of a thrown value: DataLoader takes an Error for a key that failed, and a value that is no Error is a
 * fault of ours.
 */
function asError(error: unknown): Error {
  return error instanceof Error
    ? error
    : new Failure('UPSTREAM_UNAVAILABLE', 'The call was given up.', {}, { cause: error });
}
