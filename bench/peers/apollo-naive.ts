/** One call per field: the data source only deduplicates equal URLs within one operation. */
import { type AugmentedRequest, RESTDataSource } from '@apollo/datasource-rest';
import { Agent, fetch } from 'undici';
import { serveApollo } from './apollo.ts';
import {
  type Country,
  type CountryRow,
  countryOf,
  type DataRow,
  dataParams,
  type Filter,
  type Observation,
  observationOf,
} from './plain-graph.ts';

const agent = new Agent({ keepAliveTimeout: 30_000 });

class CountryDataSource extends RESTDataSource {
  override baseURL = process.env.UPSTREAM_URL ?? '';
  readonly #authorization: string;

  constructor(authorization: string) {
    super({ fetch: ((url: string, init: object) => fetch(url, { ...init, dispatcher: agent })) as never });
    this.#authorization = authorization;
  }

  override willSendRequest(_path: string, { headers }: AugmentedRequest): void {
    headers.authorization = this.#authorization;
  }

  async countries(): Promise<Country[]> {
    const { data } = await this.get<{ data: CountryRow[] }>('/v1/countries');
    return data.map(countryOf);
  }

  async observations(filter: Filter): Promise<Observation[]> {
    const { data } = await this.get<{ data: DataRow[] }>('/v1/data', { params: dataParams(filter) });
    return data.filter(({ value }) => value !== null).map(observationOf);
  }
}

interface NaiveContext {
  readonly service: CountryDataSource;
}

const resolvers = {
  Query: {
    countries: (_: unknown, __: unknown, { service }: NaiveContext) => service.countries(),
    country: async (_: unknown, { code }: { code: string }, { service }: NaiveContext) =>
      (await service.countries()).find((country) => country.code === code.toUpperCase()) ?? null,
    observations: (_: unknown, filter: Filter, { service }: NaiveContext) => service.observations(filter),
  },
  Country: {
    async observation({ code }: Country, { metricKey }: { metricKey: string }, { service }: NaiveContext) {
      const rows = await service.observations({
        countryCodes: [code],
        metricKeys: [metricKey],
        latest: true,
      });
      return rows[0] ?? null;
    },
  },
};

await serveApollo(resolvers, (authorization) => ({ service: new CountryDataSource(authorization) }));
