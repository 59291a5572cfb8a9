import DataLoader from 'dataloader';
import { Failure } from '../errors.ts';
import { type Demand, demandKey, type Kind } from '../planner/demand.ts';
import { newestOf } from '../planner/newest.ts';
import type { Endpoint, Sending } from '../upstream/call.ts';
import type { Upstream } from '../upstream/client.ts';
import * as service from '../upstream/endpoints.ts';
import type { CountryRecord } from '../upstream/records/countries.ts';
import type { OfficeRecord } from '../upstream/records/government.ts';
import type { IndicatorRecord } from '../upstream/records/indicators.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';
import type { HealthRecord, SourceRecord, VersionRecord } from '../upstream/records/platform.ts';
import type { ProfileRecord } from '../upstream/records/profiles.ts';
import type { SignalsRecord } from '../upstream/records/signals.ts';
import type { Holds } from './holds.ts';
import type { Seat } from './observation-pool.ts';
import { createTickerLoader, type TickerLoader, type TickersLearned } from './tickers.ts';

type ByKey<Value> = Pick<DataLoader<string, Value>, 'load'>;

/** What one operation loads, a loader for each kind of thing. Nothing is asked for twice. */
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
  /** The rows of one country and metric: the latest as the service gives it, or the whole series. */
  rows(kind: Kind, countryCode: string, metricKey: string): Promise<readonly ObservationRecord[]>;
  /** The latest row for the whole country; null where the service holds none. */
  national(countryCode: string, metricKey: string): Promise<ObservationRecord | null>;
}

export interface LoadersParts {
  readonly upstream: Upstream;
  readonly sending: Sending;
  readonly seat: Seat;
  readonly holds: Holds;
  readonly tickersLearned: TickersLearned;
}

export function createLoaders({ upstream, sending, seat, holds, tickersLearned }: LoadersParts): Loaders {
  const list = <Result>(endpoint: Endpoint<service.NoParams, Result>) =>
    once(async () => (await upstream.ask(endpoint, {}, sending)) as Result);

  const countries = list(service.countries);
  const sources = list(service.etlStatus);
  const catalogue = createCatalogue(upstream, sending);

  return {
    health: list(service.health),
    platformVersion: list(service.platformVersion),
    countries,
    sources,
    indicators: catalogue,
    country: byKey(countries, ({ code }) => code),
    source: byKey(sources, ({ key }) => key),
    indicator: byKey(catalogue, ({ key }) => key),
    profile: byCountry(service.countryProfile),
    signals: byCountry(service.countrySignals),
    offices: byCountry(service.governmentStructure),
    tickers: createTickerLoader(upstream, sending, tickersLearned),
    observations: createObservationLoader(seat, holds),
  };

  function byCountry<Result>(endpoint: Endpoint<service.CountryParams, Result>): ByKey<Result | null> {
    return new DataLoader((codes) =>
      Promise.all(codes.map((code) => upstream.ask(endpoint, { code }, sending).catch(asError))),
    );
  }
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
function createCatalogue(upstream: Upstream, sending: Sending): Loaders['indicators'] {
  const ask = async (filter: service.IndicatorsParams) =>
    (await upstream.ask(service.indicators, filter, sending)) ?? [];
  const whole = once(() => ask({}));
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
    const list = filtered.get(name) ?? ask({ category, hasData });
    filtered.set(name, list);
    return list;
  };
}

function createObservationLoader(seat: Seat, holds: Holds): ObservationLoader {
  const loader = new DataLoader<Demand, readonly ObservationRecord[], string>(
    async (demands) => {
      const outcomes = await seat.load(demands);
      return demands.map((demand) => outcomes.get(demandKey(demand)) ?? []);
    },
    { cacheKeyFn: demandKey, batchScheduleFn: (leave) => holds.whenFree(leave) },
  );
  const rows: ObservationLoader['rows'] = (kind, countryCode, metricKey) =>
    loader.load({ kind, countryCode, metricKey });

  return {
    rows,
    async national(countryCode, metricKey) {
      const latest = await rows('latest', countryCode, metricKey);
      const isNational = (row: ObservationRecord) => row.locationName === null;
      const national = newestOf(latest.filter(isNational));
      if (national !== null || latest.length === 0) return national;
      // The newest row is that of a place: the newest national one stands in the series.
      return newestOf((await rows('series', countryCode, metricKey)).filter(isNational));
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
