import { isRetryable } from '@country-graph/client';
import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { GraphQLClient } from 'graphql-request';
import { createRoot } from 'react-dom/client';
import { BarChart } from '../common/bar-chart.tsx';
import { Bill, noteBill } from '../common/bill.tsx';
import { FailureNote } from '../common/failure.tsx';
import { GATEWAY, HEADERS } from '../common/settings.ts';
import { graphql } from './graphql.ts';

const gateway = new GraphQLClient(GATEWAY, {
  headers: HEADERS,
  responseMiddleware: (response) => noteBill('extensions' in response ? response.extensions : undefined),
});

const FIGURES = graphql(`
  query Figures($codes: [CountryCode!]!) {
    countries(codes: $codes) {
      code
      name
      observation(metricKey: "population_total") {
        value
        year
        unit
      }
    }
  }
`);

const CODES = ['KE', 'NG', 'GH', 'ZA', 'EG'];

function Chart() {
  const { data, error, refetch } = useQuery({
    queryKey: ['figures', CODES],
    queryFn: () => gateway.request(FIGURES, { codes: CODES }),
    // Leaves retryable failures to the note below, which asks again at the time that the gateway names.
    retry: (count, failure) => !isRetryable(failure) && count < 1,
  });
  if (error !== null) return <FailureNote failure={error} onRetry={refetch} />;
  if (data === undefined) return <p>Loading…</p>;
  const countries = data.countries ?? [];
  return (
    <BarChart
      title="Population"
      unit={countries.find(({ observation }) => observation !== null)?.observation?.unit ?? null}
      bars={countries.map(({ code, name, observation }) => ({
        label: name ?? code,
        value: observation?.value ?? null,
        year: observation?.year ?? null,
      }))}
    />
  );
}

createRoot(document.getElementById('root') ?? document.body).render(
  <QueryClientProvider client={new QueryClient()}>
    <h1>TanStack Query and gql.tada</h1>
    <Chart />
    <Bill />
  </QueryClientProvider>,
);
