/**
 * The schema and the REST client that the hand-written peers share, so that they differ only by their server. The schema is
 * the part of ours that the operations of the race use, with the same names.
 */
import DataLoader from 'dataloader';
import { Agent, request } from 'undici';

export const typeDefs = /* GraphQL */ `
  scalar CountryCode
  scalar DateTime

  type Query {
    countries: [Country!]
    country(code: CountryCode!): Country
    observations(
      countryCodes: [CountryCode!]
      metricKeys: [String!]
      latest: Boolean = false
      fromYear: Int
      toYear: Int
    ): [Observation!]
  }

  type Country {
    code: CountryCode!
    name: String
    observation(metricKey: String!): Observation
  }

  type Indicator {
    key: String!
    name: String
    unit: String
  }

  type Source {
    key: String!
  }

  type Observation {
    country: Country!
    indicator: Indicator!
    year: Int!
    period: String!
    asOfPeriod: String
    locationName: String
    value: Float!
    unit: String!
    source: Source!
    valueStatus: String!
    isModelled: Boolean!
    estimateLow: Float
    estimateHigh: Float
    datasetVersion: String
    retrievedAt: DateTime!
  }
`;

export interface Country {
  readonly code: string;
  readonly name: string;
}

export interface Observation {
  readonly country: Country;
  readonly indicator: { readonly key: string; readonly name: string; readonly unit: string };
  readonly source: { readonly key: string };
  readonly [field: string]: unknown;
}

export interface Filter {
  readonly countryCodes?: readonly string[] | null;
  readonly metricKeys?: readonly string[] | null;
  readonly latest?: boolean | null;
  readonly fromYear?: number | null;
  readonly toYear?: number | null;
}

export interface CountryRow {
  readonly id: string;
  readonly name: string;
}

/** A row of `/v1/data` as the service sends it. */
export interface DataRow {
  readonly country_code: string;
  readonly country_name: string;
  readonly metric_key: string;
  readonly metric_name: string;
  readonly year: number;
  readonly period: string;
  readonly as_of_period?: string | null;
  readonly location_name?: string | null;
  readonly value: number | null;
  readonly unit: string;
  readonly source: string;
  readonly value_status: string;
  readonly estimate_low?: number | null;
  readonly estimate_high?: number | null;
  readonly dataset_version?: string | null;
  readonly retrieved_at: string;
}

/** The most rows that the service sends in one response. */
export const MAX_ROWS = 1000;

export const countryOf = ({ id, name }: CountryRow): Country => ({ code: id.toUpperCase(), name });

export const observationOf = (row: DataRow): Observation => ({
  country: { code: row.country_code.toUpperCase(), name: row.country_name },
  indicator: { key: row.metric_key, name: row.metric_name, unit: row.unit },
  source: { key: row.source },
  year: row.year,
  period: row.period,
  asOfPeriod: row.as_of_period,
  locationName: row.location_name,
  value: row.value,
  unit: row.unit,
  valueStatus: row.value_status,
  isModelled: row.value_status.toLowerCase() !== 'reported',
  estimateLow: row.estimate_low,
  estimateHigh: row.estimate_high,
  datasetVersion: row.dataset_version,
  retrievedAt: row.retrieved_at,
});

/** The query parameters of a data call. */
export function dataParams({ countryCodes, metricKeys, latest, fromYear, toYear }: Filter): URLSearchParams {
  const params = new URLSearchParams();
  if (countryCodes != null) params.set('country_codes', countryCodes.join(','));
  if (metricKeys != null) params.set('metric_keys', metricKeys.join(','));
  if (latest) params.set('latest', 'true');
  if (fromYear != null) params.set('start_year', String(fromYear));
  if (toYear != null) params.set('end_year', String(toYear));
  params.set('limit', String(MAX_ROWS));
  return params;
}

const agent = new Agent({ keepAliveTimeout: 30_000 });
const upstreamUrl = process.env.UPSTREAM_URL ?? '';

export async function getJson(path: string, authorization: string): Promise<unknown> {
  const { statusCode, body } = await request(upstreamUrl + path, {
    dispatcher: agent,
    headers: { accept: 'application/json', authorization },
  });
  if (statusCode !== 200) {
    await body.dump();
    throw new Error(`${path}: status ${statusCode}`);
  }
  return body.json();
}

/** The REST service under one caller's key. */
export function createRest(authorization: string) {
  async function observations(filter: Filter): Promise<Observation[]> {
    const { data, meta } = (await getJson(`/v1/data?${dataParams(filter)}`, authorization)) as {
      data: DataRow[];
      meta: { total: number };
    };
    const { countryCodes } = filter;
    if (meta.total <= data.length) return data.filter(({ value }) => value !== null).map(observationOf);
    if (countryCodes == null || countryCodes.length < 2) throw new Error('the response is truncated');
    const middle = countryCodes.length >> 1;
    const halves = [countryCodes.slice(0, middle), countryCodes.slice(middle)];
    return (
      await Promise.all(halves.map((codes) => observations({ ...filter, countryCodes: codes })))
    ).flat();
  }

  return {
    observations,
    async countries(): Promise<Country[]> {
      const { data } = (await getJson('/v1/countries', authorization)) as { data: CountryRow[] };
      return data.map(countryOf);
    },
  };
}

export type Rest = ReturnType<typeof createRest>;

export interface Pair {
  readonly code: string;
  readonly metricKey: string;
}

const pairKey = ({ code, metricKey }: Pair) => `${code} ${metricKey}`;

/** The latest figures of all pairs: all their countries × all their metrics, in as few calls as the row limit allows. */
export async function latestOf(rest: Rest, pairs: readonly Pair[]): Promise<(Observation | null)[]> {
  const codes = [...new Set(pairs.map(({ code }) => code))];
  const metricKeys = [...new Set(pairs.map(({ metricKey }) => metricKey))];
  const step = Math.max(1, Math.floor(MAX_ROWS / metricKeys.length));
  const calls: Promise<Observation[]>[] = [];
  for (let i = 0; i < codes.length; i += step) {
    calls.push(rest.observations({ countryCodes: codes.slice(i, i + step), metricKeys, latest: true }));
  }
  const figures = new Map<string, Observation>();
  for (const rows of await Promise.all(calls)) {
    for (const row of rows)
      figures.set(pairKey({ code: row.country.code, metricKey: row.indicator.key }), row);
  }
  return pairs.map((pair) => figures.get(pairKey(pair)) ?? null);
}

export interface PlainContext {
  readonly rest: Rest;
  countries(): Promise<Country[]>;
  readonly latest: DataLoader<Pair, Observation | null, string>;
}

/** The context of one operation: the list is requested once, and figures in one batch. */
export function createContext(authorization: string): PlainContext {
  const rest = createRest(authorization);
  let list: Promise<Country[]> | undefined;
  return {
    rest,
    countries() {
      list ??= rest.countries();
      return list;
    },
    latest: new DataLoader((pairs) => latestOf(rest, pairs), { cacheKeyFn: pairKey }),
  };
}

export const resolvers = {
  Query: {
    countries: (_: unknown, __: unknown, { countries }: PlainContext) => countries(),
    country: async (_: unknown, { code }: { code: string }, { countries }: PlainContext) =>
      (await countries()).find((country) => country.code === code.toUpperCase()) ?? null,
    observations: (_: unknown, filter: Filter, { rest }: PlainContext) => rest.observations(filter),
  },
  Country: {
    observation: ({ code }: Country, { metricKey }: { metricKey: string }, { latest }: PlainContext) =>
      latest.load({ code, metricKey }),
  },
};
