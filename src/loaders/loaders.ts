import DataLoader from 'dataloader';
import { Failure, type FailureCode } from '../errors.ts';
import type { Kind } from '../planner/demand.ts';
import { newestOf } from '../planner/newest.ts';
import type { Ask } from '../upstream/cached.ts';
import type { Endpoint, Sending } from '../upstream/call.ts';
import * as service from '../upstream/endpoints.ts';
import type { CountryRecord } from '../upstream/records/countries.ts';
import type { OfficeRecord } from '../upstream/records/government.ts';
import type { IndicatorRecord } from '../upstream/records/indicators.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';
import type { HealthRecord, SourceRecord, VersionRecord } from '../upstream/records/platform.ts';
import type { ProfileRecord } from '../upstream/records/profiles.ts';
import type { SignalsRecord } from '../upstream/records/signals.ts';
import { type Figures, type Want, wantKey } from './cached-figures.ts';
import type { Holds } from './holds.ts';
import { createTickerLoader, type TickerLoader, type TickersLearned } from './tickers.ts';

type ByKey<Value> = Pick<DataLoader<string, Value>, 'load'>;

/**
 * What one operation loads, a loader for each kind of thing. Nothing is asked for twice. Each use counts on the bill
 * as the request that a field fetching for itself would have sent.
 */
export interface Loaders {
  health(): Promise<HealthRecord>;
  platformVersion(): Promise<VersionRecord>;
  sources(): Promise<readonly SourceRecord[]>;
  countries(): Promise<readonly CountryRecord[]>;
  indicators(filter?: service.IndicatorsParams): Promise<readonly IndicatorRecord[]>;
  readonly source: ByKey<SourceRecord | null>;
  readonly country: ByKey<CountryRecord | null>;
  readonly indicator: ByKey<IndicatorRecord | null>;
  readonly profile: ByKey<ProfileRecord | null>;
  readonly signals: ByKey<SignalsRecord | null>;
  readonly offices: ByKey<readonly OfficeRecord[] | null>;
  readonly tickers: TickerLoader;
  readonly observations: ObservationLoader;
}

export interface ObservationLoader {
  /** The rows of every country and metric named, in their order: the latest as the service gives it, or the series. */
  rows(
    kind: Kind,
    countryCodes: readonly string[],
    metricKeys: readonly string[],
    maxAgeMs: number,
  ): Promise<readonly ObservationRecord[]>;
  /** The latest row for the whole country; null where the service holds none. */
  national(countryCode: string, metricKey: string, maxAgeMs: number): Promise<ObservationRecord | null>;
  /** Why a row that is past its time was served to this operation all the same; null where it wasn't. */
  staleness(row: ObservationRecord): FailureCode | null;
}

export interface LoadersParts {
  readonly ask: Ask;
  readonly sending: Sending;
  /** Where this operation's figures come from. */
  readonly figures: (sending: Sending) => Figures;
  readonly holds: Holds;
  readonly tickersLearned: TickersLearned;
}

export function createLoaders(parts: LoadersParts): Loaders {
  const { ask, holds } = parts;
  const staleness = new WeakMap<object, FailureCode>();
  const sending: Sending = {
    ...parts.sending,
    onStale(records, why) {
      if (typeof records === 'object' && records !== null) staleness.set(records, why);
    },
  };
  const list = <Result>(endpoint: Endpoint<service.NoParams, Result>) =>
    once(async () => (await ask(endpoint, {}, sending)) as Result);
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
      Promise.all(codes.map((code) => ask(endpoint, { code }, sending).catch(asError))),
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
  const observations = createObservationLoader(parts.figures(sending), holds);

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
    tickers: { where: counted(tickers.where) },
    observations: {
      rows: counted(observations.rows),
      national: counted(observations.national),
      staleness: (row) => staleness.get(row) ?? null,
    },
  };
}

/** Each thing of a list, found by its key. */
function byKey<Value>(
  list: () => Promise<readonly Value[]>,
  keyOf: (value: Value) => string,
): ByKey<Value | null> {
  return new DataLoader(async (keys) => {
    const found = new Map((await list()).map((value) => [keyOf(value), value]));
    return keys.map((key) => found.get(key) ?? null);
  });
}

/**
 * The catalogue answers every filter at once. Only where its items don't say what is filtered by is the service
 * asked for the filtered list.
 */
function createCatalogue(ask: Ask, sending: Sending): Loaders['indicators'] {
  const listed = async (filter: service.IndicatorsParams) =>
    (await ask(service.indicators, filter, sending)) ?? [];
  const whole = once(() => listed({}));
  const filtered = new Map<string, Promise<readonly IndicatorRecord[]>>();

  return async ({ category, hasData } = {}) => {
    const all = await whole();
    const says = (field: 'category' | 'hasData') => all.every((item) => item[field] !== null);
    if ((category === undefined || says('category')) && (hasData === undefined || says('hasData'))) {
      return all.filter(
        (item) =>
          (category === undefined || item.category?.toLowerCase() === category.toLowerCase()) &&
          (hasData === undefined || item.hasData === hasData),
      );
    }
    const name = JSON.stringify([category, hasData]);
    const list = filtered.get(name) ?? listed({ category, hasData });
    filtered.set(name, list);
    return list;
  };
}

function createObservationLoader(figures: Figures, holds: Holds): Omit<ObservationLoader, 'staleness'> {
  const loader = new DataLoader<Want, readonly ObservationRecord[], string>(
    async (wants) => {
      const outcomes = await figures.load(wants);
      return wants.map((want) => outcomes.get(wantKey(want)) ?? []);
    },
    { cacheKeyFn: wantKey, batchScheduleFn: (leave) => holds.whenFree(leave) },
  );
  const rowsOf = (kind: Kind, countryCode: string, metricKey: string, maxAgeMs: number) =>
    loader.load({ demand: { kind, countryCode, metricKey }, maxAgeMs });

  return {
    async rows(kind, countryCodes, metricKeys, maxAgeMs) {
      const pairs = countryCodes.flatMap((code) =>
        metricKeys.map((key) => rowsOf(kind, code, key, maxAgeMs)),
      );
      return (await Promise.all(pairs)).flat();
    },
    async national(countryCode, metricKey, maxAgeMs) {
      const latest = await rowsOf('latest', countryCode, metricKey, maxAgeMs);
      const isNational = (row: ObservationRecord) => row.locationName === null;
      const national = newestOf(latest.filter(isNational));
      if (national !== null || latest.length === 0) return national;
      // The newest row is that of a place: the newest national one stands in the series.
      return newestOf((await rowsOf('series', countryCode, metricKey, maxAgeMs)).filter(isNational));
    },
  };
}

function once<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | undefined;
  return () => {
    loading ??= load();
    return loading;
  };
}

/** DataLoader takes an Error for a key that failed; what is no Error is a fault of ours. */
function asError(error: unknown): Error {
  return error instanceof Error
    ? error
    : new Failure('UPSTREAM_UNAVAILABLE', 'The call was given up.', {}, { cause: error });
}
