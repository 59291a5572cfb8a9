import DataLoader from 'dataloader';
import { mapValue, type PromiseOrValue } from '../async/promise-or-value.ts';
import { createObjectMemo } from '../cache/object-memo.ts';
import { Failure, type FailureCode } from '../errors.ts';
import type { BatchGate } from '../observations/batch-gate.ts';
import type { Figures } from '../observations/fetch.ts';
import type { Learned } from '../planner/learned.ts';
import type { Ask } from '../upstream/cached.ts';
import type { Endpoint, LeftOutRows, Sending } from '../upstream/call.ts';
import * as service from '../upstream/endpoints.ts';
import type { CountryRecord } from '../upstream/records/countries.ts';
import type { OfficeRecord } from '../upstream/records/government.ts';
import type { IndicatorRecord } from '../upstream/records/indicators.ts';
import { leftOutOf, notFoundIn, withLeftOut } from '../upstream/records/left-out.ts';
import type { HealthRecord, SourceRecord, VersionRecord } from '../upstream/records/platform.ts';
import type { ProfileRecord } from '../upstream/records/profiles.ts';
import type { SignalsRecord } from '../upstream/records/signals.ts';
import type { Effort } from './effort.ts';
import { createObservationLoader, type ObservationLoader } from './observations.ts';
import { createTickerLoader, type TickerLoader, type TickersLearned } from './tickers.ts';

interface ByKey<Value> {
  load(key: string): PromiseOrValue<Value>;
}

/**
 * What one operation loads, a loader for each kind of thing. Nothing is asked for twice. Each use counts on the bill
 * as the request that a field fetching for itself would have sent.
 */
export interface Loaders {
  health(): PromiseOrValue<HealthRecord>;
  platformVersion(): PromiseOrValue<VersionRecord>;
  sources(): PromiseOrValue<readonly SourceRecord[]>;
  countries(): PromiseOrValue<readonly CountryRecord[]>;
  indicators(filter?: service.IndicatorsParams): PromiseOrValue<readonly IndicatorRecord[]>;
  readonly source: ByKey<SourceRecord | null>;
  readonly country: ByKey<CountryRecord | null>;
  readonly indicator: ByKey<IndicatorRecord | null>;
  readonly profile: ByKey<ProfileRecord | null>;
  readonly signals: ByKey<SignalsRecord | null>;
  readonly offices: ByKey<readonly OfficeRecord[] | null>;
  readonly tickers: TickerLoader;
  readonly observations: ObservationLoader;
  /** Names in the lists that the service has given so far, to anybody; none before it has. Asks for nothing. */
  readonly listed: Learned['listed'];
}

export interface LoadersParts {
  readonly ask: Ask;
  readonly sending: Sending;
  /** Where this operation's figures come from. */
  readonly figures: Figures;
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
  const byCountry = <Result>(endpoint: Endpoint<service.CountryParams, Result>) =>
    new DataLoader<string, Result | null>((codes) =>
      Promise.all(
        codes.map(async (code) => ask(endpoint, { code }, sending)).map((asked) => asked.catch(asError)),
      ),
    );

  const countries = list(service.countries);
  const sources = list(service.etlStatus);
  const catalogue = createCatalogue(ask, sending);
  const tickers = createTickerLoader(ask, sending, parts.tickersLearned);
  const bareSignals = byCountry(service.countrySignals);
  const signals: ByKey<SignalsRecord | null> = {
    async load(code) {
      const record = await bareSignals.load(code);
      // A snapshot that is past its time makes its figures so.
      const why = record === null ? undefined : staleness.get(record);
      if (record !== null && why !== undefined)
        for (const row of record.observations) staleness.set(row, why);
      return record;
    },
  };
  const observations = createObservationLoader({ ...parts, sending });

  return {
    health: counted(list(service.health)),
    platformVersion: counted(list(service.platformVersion)),
    countries: counted(countries),
    sources: counted(sources),
    indicators: counted(catalogue),
    country: countedByKey(byKey(countries, ({ code }) => code)),
    source: countedByKey(byKey(sources, ({ key }) => key)),
    indicator: countedByKey(byKey(catalogue, ({ key }) => key)),
    profile: countedByKey(byCountry(service.countryProfile)),
    signals: countedByKey(signals),
    offices: countedByKey(byCountry(service.governmentStructure)),
    tickers: { where: counted(onceEach(tickers.where)), find: counted(tickers.find) },
    listed: parts.listed,
    observations: {
      rows: counted(observations.rows),
      nationals(countryCodes, metricKey, maxAgeMs) {
        sending.bill.naive += countryCodes.length;
        return observations.nationals(countryCodes, metricKey, maxAgeMs);
      },
      leftOut: () => leftOut,
      staleness: (row) => staleness.get(row) ?? null,
    },
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
