import DataLoader from 'dataloader';
import { mapValue, type PromiseOrValue } from '../async/promise-or-value.ts';
import { timeSliced } from '../async/yielding.ts';
import { createObjectMemo } from '../cache/object-memo.ts';
import { Failure, type FailureCode } from '../errors.ts';
import type { BatchGate } from '../observations/batch-gate.ts';
import { type Figures, type Want, wantKey } from '../observations/cached.ts';
import type { Outcome } from '../observations/outcome.ts';
import type { Mode } from '../planner/demand.ts';
import type { Learned } from '../planner/learned.ts';
import { newestOf } from '../planner/newest.ts';
import type { Ask } from '../upstream/cached.ts';
import { callKey, type Endpoint, type LeftOutRows, makeCall, type Sending } from '../upstream/call.ts';
import * as service from '../upstream/endpoints.ts';
import type { CountryRecord } from '../upstream/records/countries.ts';
import type { IndicatorRecord } from '../upstream/records/indicators.ts';
import { leftOutOf, notFoundIn, withLeftOut } from '../upstream/records/left-out.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';
import type { SourceRecord } from '../upstream/records/platform.ts';
import type { Effort } from './effort.ts';
import type { TickersLearned } from './ticker-lists.ts';
import { createTickerLoader, type TickerLoader } from './tickers.ts';

interface ByKey<Value> {
  load(key: string): PromiseOrValue<Value>;
}

/**
 * What one operation loads, a loader for each kind of thing. Nothing is asked for twice. Each use counts on the bill
 * as the request that a field fetching for itself would have sent.
 */
export interface Loaders {
  /** What an endpoint answers; null where it has nothing of what is asked for. */
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
}

export interface ObservationLoader {
  /**
   * The rows of every country and metric named, in their order: the latest as the service gives it, or the series. At
   * once, where all of it is held.
   * @param choose which of the rows of a country and metric are wanted
   */
  rows(
    mode: Mode,
    countryCodes: readonly string[],
    metricKeys: readonly string[],
    maxAgeMs: number,
    choose?: (rows: readonly ObservationRecord[]) => readonly ObservationRecord[],
  ): PromiseOrValue<readonly ObservationRecord[]>;
  /**
   * The latest row for each whole country, in their order; null where the service holds none, an Error where that can't
   * be told. At once, where all of it is held.
   */
  nationals(
    countryCodes: readonly string[],
    metricKey: string,
    maxAgeMs: number,
  ): PromiseOrValue<readonly National[]>;
  /** Rows of answers to this operation that belong to no figure that can be asked for. */
  leftOut(): readonly LeftOutRows[];
  /** Tells of rows that came as part of a record: they are as old as it is. */
  cameWith(record: object, rows: readonly ObservationRecord[]): void;
  /** Why a row that is past its time was served to this operation all the same; null where it wasn't. */
  staleness(row: ObservationRecord): FailureCode | null;
}

export type National = ObservationRecord | Error | null;

export interface LoadersParts {
  readonly ask: Ask;
  readonly sending: Sending;
  /** Where this operation's figures come from. */
  readonly figures: (sending: Sending) => Figures;
  readonly batchGate: BatchGate;
  readonly effort: Effort;
  readonly tickersLearned: TickersLearned;
  readonly listed: Learned['listed'];
}

export function createLoaders(parts: LoadersParts): Loaders {
  const { ask } = parts;
  const staleness = new WeakMap<object, FailureCode>();
  const leftOut: LeftOutRows[] = [];
  const sending: Sending = {
    ...parts.sending,
    onStale(records, why) {
      if (typeof records === 'object' && records !== null) staleness.set(records, why);
    },
    onLeftOut(rows) {
      leftOut.push(rows);
    },
  };
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
  const catalogue = createCatalogue(ask, sending);
  const tickers = createTickerLoader(ask, sending, parts.tickersLearned);
  const observations = createObservationLoader(parts.figures(sending), parts);

  return {
    load: createEndpointLoader(ask, sending),
    countries: counted(countries),
    sources: counted(sources),
    indicators: counted(catalogue),
    country: countedByKey(byKey(countries, ({ code }) => code)),
    source: countedByKey(byKey(sources, ({ key }) => key)),
    indicator: countedByKey(byKey(catalogue, ({ key }) => key)),
    tickers: { where: counted(onceEach(tickers.where)), find: counted(tickers.find) },
    listed: parts.listed,
    observations: {
      rows: counted(observations.rows),
      nationals(countryCodes, metricKey, maxAgeMs) {
        sending.bill.naive += countryCodes.length;
        return observations.nationals(countryCodes, metricKey, maxAgeMs);
      },
      leftOut: () => leftOut,
      cameWith(record, rows) {
        const why = staleness.get(record);
        if (why !== undefined) for (const row of rows) staleness.set(row, why);
      },
      staleness: (row) => staleness.get(row) ?? null,
    },
  };
}

/** Asks an endpoint for each thing once, however many want it. */
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
      { cacheKeyFn: (params) => callKey(makeCall(endpoint, params)) },
    );
    loaders.set(endpoint, loader);
    return loader;
  }

  return (endpoint, params) => {
    sending.bill.naive += 1;
    return loaderOf(endpoint).load(params);
  };
}

/** The things of a list by their keys. */
const indexes = createObjectMemo<ReadonlyMap<string, unknown>>('index');

/** Each thing of a list, found by its key. */
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
 * The catalogue answers every filter at once. Only where its items don't say what is filtered by is the service
 * asked for the filtered list.
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

/** Wants that are looked for before others may have a turn. */
const BLOCK_WANTS = 250;

/** Wants of one field: they travel through DataLoader as one, however many they are. */
type Block = readonly Want[];

function createObservationLoader(
  figures: Figures,
  { batchGate, effort, sending }: Pick<LoadersParts, 'batchGate' | 'effort' | 'sending'>,
): Pick<ObservationLoader, 'rows' | 'nationals'> {
  /** What this operation has, or is about to have, by the keys of the wants. */
  const outcomes = new Map<string, Outcome>();
  const coming = new Map<string, Promise<unknown>>();

  const loader = new DataLoader<Block, void>(
    async (blocks) => {
      const missing = new Map<string, Want>();
      const others = new Set<Promise<unknown>>();
      for (const want of blocks.flat()) {
        const key = wantKey(want);
        const other = coming.get(key);
        if (other !== undefined) others.add(other);
        else if (!outcomes.has(key)) missing.set(key, want);
      }
      const loading = figures.load([...missing.values()]).then((loaded) => {
        for (const [key, outcome] of loaded) outcomes.set(key, outcome);
      });
      for (const key of missing.keys()) coming.set(key, loading);
      try {
        await Promise.all([loading, ...others]);
      } finally {
        for (const key of missing.keys()) coming.delete(key);
      }
      return blocks.map(() => undefined);
    },
    { cache: false, batchScheduleFn: (leave) => batchGate.whenOpen(leave) },
  );

  /** What comes of the outcomes of wants, at once where they are all there. */
  function withOutcomes<Result>(
    wants: Block,
    make: (outcomes: readonly Outcome[]) => PromiseOrValue<Result>,
  ): PromiseOrValue<Result> {
    const missing: Want[] = [];
    const found: Outcome[] = [];
    const finish = (): PromiseOrValue<Result> => {
      if (missing.length === 0) return make(found);
      return loader
        .load(missing)
        .then(() => make(wants.map((want) => outcomes.get(wantKey(want)) ?? NOTHING)));
    };
    if (wants.length <= BLOCK_WANTS) {
      look(wants, missing, found);
      return finish();
    }
    const looking = timeSliced(sending.caller, lookInBlocks(wants, missing, found));
    return looking instanceof Promise ? batchGate.closeDuring(looking).then(finish) : finish();
  }

  function* lookInBlocks(wants: Block, missing: Want[], found: Outcome[]): Generator<void, void> {
    for (let start = 0; start < wants.length; start += BLOCK_WANTS) {
      look(wants.slice(start, start + BLOCK_WANTS), missing, found);
      yield;
    }
  }

  /** Looks for wants among what the operation has, and what is held. */
  function look(wants: Block, missing: Want[], found: Outcome[]): void {
    const heldOf = figures.held();
    for (const want of wants) {
      const key = wantKey(want);
      let outcome = outcomes.get(key);
      if (outcome === undefined && heldOf !== null && !coming.has(key)) {
        outcome = heldOf(want);
        if (outcome !== undefined) outcomes.set(key, outcome);
      }
      if (outcome === undefined) missing.push(want);
      else found.push(outcome);
    }
  }

  const wantsOf = (
    mode: Mode,
    countryCodes: readonly string[],
    metricKeys: readonly string[],
    maxAgeMs: number,
  ): Want[] => {
    effort.want(countryCodes.length * metricKeys.length, mode);
    const wants: Want[] = [];
    for (const countryCode of countryCodes) {
      for (const metricKey of metricKeys) wants.push({ demand: { mode, countryCode, metricKey }, maxAgeMs });
    }
    return wants;
  };

  return {
    rows(mode, countryCodes, metricKeys, maxAgeMs, choose = (rows) => rows) {
      return withOutcomes(wantsOf(mode, countryCodes, metricKeys, maxAgeMs), (outcomes) => {
        const rows: ObservationRecord[] = [];
        for (const [i, outcome] of outcomes.entries()) {
          if (outcome instanceof Error) throw outcome;
          if (isClaimed(outcome, metricKeys, i % metricKeys.length)) continue;
          for (const row of choose(outcome)) rows.push(row);
        }
        return rows;
      });
    },
    nationals(countryCodes, metricKey, maxAgeMs) {
      return withOutcomes(wantsOf('latest', countryCodes, [metricKey], maxAgeMs), (latest) => {
        // Where the newest row is that of a place, the newest national one stands in the series.
        const isOfPlace = (outcome: Outcome) =>
          !(outcome instanceof Error) && outcome.length > 0 && !outcome.some(isNational);
        const ofPlaces = countryCodes.filter((_, i) => isOfPlace(latest[i] as Outcome));
        if (ofPlaces.length === 0) return latest.map(nationalIn);
        return withOutcomes(wantsOf('series', ofPlaces, [metricKey], maxAgeMs), (series) => {
          const byCountry = new Map(ofPlaces.map((code, i) => [code, series[i] as Outcome]));
          return latest.map((outcome, i) => nationalIn(byCountry.get(countryCodes[i] as string) ?? outcome));
        });
      });
    },
  };
}

const NOTHING: Outcome = [];

/**
 * Whether the rows for a key are those of another key that was asked for too, in the very spelling of the service: where
 * it makes no difference between cases, they are there already.
 */
function isClaimed([row]: readonly ObservationRecord[], metricKeys: readonly string[], own: number): boolean {
  return row !== undefined && row.metricKey !== metricKeys[own] && metricKeys.includes(row.metricKey);
}

function isNational({ locationName }: ObservationRecord): boolean {
  return locationName === null;
}

function nationalIn(outcome: Outcome): National {
  if (outcome instanceof Error) return outcome;
  const [only] = outcome;
  if (only !== undefined && outcome.length === 1) return isNational(only) ? only : null;
  return newestOf(outcome.filter(isNational));
}

function once<Value>(load: () => PromiseOrValue<Value>): () => PromiseOrValue<Value> {
  let loading: { readonly value: PromiseOrValue<Value> } | undefined;
  return () => {
    loading ??= { value: load() };
    return loading.value;
  };
}

/** Listings of each filter, chosen once: a country of a thousand listings is asked for its own a thousand times. */
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

/** DataLoader takes an Error for a key that failed; what is no Error is a fault of ours. */
function asError(error: unknown): Error {
  return error instanceof Error
    ? error
    : new Failure('UPSTREAM_UNAVAILABLE', 'The call was given up.', {}, { cause: error });
}
