import type { Maybe } from '@country-graph/client';
import { keys, withIds } from '@country-graph/client/graphcache';
import { cacheExchange } from '@urql/exchange-graphcache';
import { createRoot } from 'react-dom/client';
import { Client, fetchExchange, gql, mapExchange, Provider, useQuery } from 'urql';
import { BarChart } from '../common/bar-chart.tsx';
import { Bill, noteBill } from '../common/bill.tsx';
import { FailureNote } from '../common/failure.tsx';
import { GATEWAY, HEADERS } from '../common/settings.ts';

/** Short queries go by GET, as urql does by itself. */
const client = new Client({
  url: GATEWAY,
  fetchOptions: { headers: HEADERS },
  exchanges: [
    mapExchange({ onOperation: (operation) => ({ ...operation, query: withIds(operation.query) }) }),
    cacheExchange({ keys }),
    mapExchange({ onResult: ({ extensions }) => noteBill(extensions) }),
    fetchExchange,
  ],
});

interface Figures {
  readonly country: Maybe<{
    readonly code: string;
    readonly name: Maybe<string>;
    readonly observations: Maybe<
      readonly {
        readonly id: string;
        readonly year: Maybe<number>;
        readonly value: number;
        readonly unit: Maybe<string>;
      }[]
    >;
  }>;
}

const FIGURES = gql<Figures, { code: string }>`
  query Figures($code: CountryCode!) {
    country(code: $code) {
      code
      name
      observations(metricKeys: ["life_expectancy"], fromYear: 2015) {
        id
        year
        value
        unit
      }
    }
  }
`;

function Chart({ code }: { readonly code: string }) {
  const [{ data, error, fetching }, refetch] = useQuery({ query: FIGURES, variables: { code } });
  if (error !== undefined)
    return <FailureNote failure={error} onRetry={() => refetch({ requestPolicy: 'network-only' })} />;
  if (fetching || data === undefined) return <p>Loading…</p>;
  const figures = (data.country?.observations ?? []).toSorted((a, b) => (a.year ?? 0) - (b.year ?? 0));
  return (
    <BarChart
      title={`Life expectancy in ${data.country?.name ?? code}`}
      unit={figures[0]?.unit ?? null}
      bars={figures.map(({ year, value }) => ({ label: String(year), value }))}
    />
  );
}

createRoot(document.getElementById('root') ?? document.body).render(
  <Provider value={client}>
    <h1>urql</h1>
    <Chart code="KE" />
    <Bill />
  </Provider>,
);
