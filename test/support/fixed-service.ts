import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Sent = Readonly<Record<string, unknown>>;

export interface FixedRoutes {
  /** Rows of `/v1/data`, in order. */
  readonly rows?: readonly Sent[];
  /** Selects the latest of the rows of one country and metric; by default, the first with the highest year. */
  readonly latest?: (rows: readonly Sent[]) => Sent;
  /** Rows of `/v1/platform/etl-status`; called for each request. */
  readonly sources?: () => readonly Sent[];
  readonly signals?: Sent;
  /** Rows of `/v1/markets/tickers`. */
  readonly tickers?: readonly Sent[];
  /** Codes in the list of countries, in lower case; Kenya's by default. */
  readonly countries?: readonly string[];
  /** True to refuse a call for figures with a plain 404; or the status and detail to refuse it with. */
  readonly refuses?: (countryCodes: readonly string[], metricKeys: readonly string[]) => boolean | Refused;
}

interface Refused {
  readonly status: number;
  readonly detail: string;
}

/** A service with fixed responses, valid or not. It ignores `limit` and years. */
export async function openFixedService({
  rows = [],
  latest = firstOfNewest,
  sources = () => [],
  signals = {},
  tickers = [],
  countries = ['ke'],
  refuses,
}: FixedRoutes) {
  const requests: string[] = [];
  let current = rows;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://service');
    requests.push(url.pathname);
    const wanted = (many: string) => url.searchParams.get(many)?.toUpperCase().split(',') ?? [];
    const [codes, keys] = [wanted('country_codes'), wanted('metric_keys')];
    const ofDemand = current.filter(
      ({ country_code, metric_key }) =>
        codes.includes(String(country_code).toUpperCase()) && keys.includes(String(metric_key).toUpperCase()),
    );
    const isLatest = url.searchParams.get('latest') === 'true';
    const sent = isLatest ? latestOf(ofDemand, latest) : ofDemand;
    const bodies: Readonly<Record<string, unknown>> = {
      '/v1/data': { data: sent, meta: { total: sent.length } },
      '/v1/platform/etl-status': { data: sources() },
      '/v1/markets/tickers': { data: tickers },
      '/v1/countries': { data: countries.map((id) => ({ id, name: `The country ${id}` })) },
      '/v1/indicators': {
        data: [...new Set(current.map((row) => row.metric_key))].map((metric_key) => ({
          metric_key,
          sources: [],
        })),
      },
    };
    const refused = url.pathname === '/v1/data' && (refuses?.(codes, keys) ?? false);
    const { status, detail } = typeof refused === 'object' ? refused : { status: 404, detail: 'Not Found' };
    const body = refused
      ? undefined
      : url.pathname.endsWith('/signals')
        ? { data: signals }
        : bodies[url.pathname];
    response.writeHead(body === undefined ? status : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body ?? { detail }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Paths of the requests so far. */
    requests,
    /** Replaces all rows. */
    revise(revised: readonly Sent[]) {
      current = revised;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function latestOf(rows: readonly Sent[], latest: (rows: readonly Sent[]) => Sent): readonly Sent[] {
  const pairs = Map.groupBy(rows, ({ country_code, metric_key }) => `${country_code} ${metric_key}`);
  return [...pairs.values()].map(latest);
}

function firstOfNewest(rows: readonly Sent[]): Sent {
  return rows.reduce((newest, row) => (Number(row.year) > Number(newest.year) ? row : newest));
}
