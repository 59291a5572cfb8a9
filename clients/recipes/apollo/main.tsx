import {
  ApolloClient,
  ApolloLink,
  DocumentTransform,
  gql,
  InMemoryCache,
  type TypedDocumentNode,
} from '@apollo/client';
import { BatchHttpLink } from '@apollo/client/link/batch-http';
import { ApolloProvider, useQuery } from '@apollo/client/react';
import type { Maybe } from '@country-graph/client';
import { possibleTypes, typePolicies, withIds } from '@country-graph/client/apollo';
import { createRoot } from 'react-dom/client';
import { map } from 'rxjs';
import { BarChart } from '../common/bar-chart.tsx';
import { Bill, noteBill } from '../common/bill.tsx';
import { FailureNote } from '../common/failure.tsx';
import { GATEWAY, HEADERS } from '../common/settings.ts';

/** Operations of one turn travel in one request, and the gateway merges their demands. */
const transport = new BatchHttpLink({ uri: GATEWAY, headers: HEADERS, batchMax: 10 });
const billed = new ApolloLink((operation, forward) =>
  forward(operation).pipe(
    map((result) => {
      noteBill(result.extensions);
      return result;
    }),
  ),
);

const client = new ApolloClient({
  link: billed.concat(transport),
  cache: new InMemoryCache({ typePolicies, possibleTypes }),
  documentTransform: new DocumentTransform(withIds),
  clientAwareness: { name: 'recipes', version: '1.0' },
});

interface Figures {
  readonly countries: Maybe<
    readonly {
      readonly id: string;
      readonly code: string;
      readonly name: Maybe<string>;
      readonly observation: Maybe<{
        readonly id: string;
        readonly value: number;
        readonly year: Maybe<number>;
        readonly unit: Maybe<string>;
      }>;
    }[]
  >;
}

const FIGURES: TypedDocumentNode<Figures, { codes: readonly string[]; metricKey: string }> = gql`
  query Figures($codes: [CountryCode!]!, $metricKey: String!) {
    countries(codes: $codes) {
      id
      code
      name
      observation(metricKey: $metricKey) {
        id
        value
        year
        unit
      }
    }
  }
`;

const CODES = ['KE', 'NG', 'GH', 'ZA', 'EG'];

function Chart({ title, metricKey }: { readonly title: string; readonly metricKey: string }) {
  const { data, error, refetch } = useQuery(FIGURES, {
    variables: { codes: CODES, metricKey },
    // A field that fails takes no other's data with it.
    errorPolicy: 'all',
  });
  const countries = data?.countries ?? null;
  if (error === undefined && countries === null) return <p>Loading…</p>;
  const unit = countries?.find(({ observation }) => observation !== null)?.observation?.unit ?? null;
  const bars = countries?.map(({ code, name, observation }) => ({
    label: name ?? code,
    value: observation?.value ?? null,
    year: observation?.year ?? null,
  }));
  return (
    <>
      {error !== undefined && <FailureNote failure={error} onRetry={refetch} />}
      {bars !== undefined && <BarChart title={title} unit={unit} bars={bars} />}
    </>
  );
}

createRoot(document.getElementById('root') ?? document.body).render(
  <ApolloProvider client={client}>
    <h1>Apollo Client</h1>
    <Chart title="Life expectancy" metricKey="life_expectancy" />
    <Chart title="Population" metricKey="population_total" />
    <Bill />
  </ApolloProvider>,
);
