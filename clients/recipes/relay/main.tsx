import { Component, type ReactNode, Suspense, useCallback, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { graphql, RelayEnvironmentProvider, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import { BarChart } from '../common/bar-chart.tsx';
import { Bill } from '../common/bill.tsx';
import { FailureNote } from '../common/failure.tsx';
import type { mainFigures$key } from './__generated__/mainFigures.graphql.ts';
import type { mainQuery } from './__generated__/mainQuery.graphql.ts';
import { environment } from './environment.ts';

const PAGE = 10;

function Figures({ of }: { of: mainFigures$key }) {
  const { data, loadNext, hasNext, isLoadingNext } = usePaginationFragment(
    graphql`
      fragment mainFigures on Query
      @throwOnFieldError
      @refetchable(queryName: "mainNextQuery")
      @argumentDefinitions(first: { type: "Int", defaultValue: 10 }, after: { type: "String" }) {
        observationsConnection(countryCodes: ["KE"], metricKeys: ["life_expectancy"], fromYear: 1990, first: $first, after: $after)
          @connection(key: "main_observationsConnection") {
          edges {
            node {
              year
              value
              unit
            }
          }
        }
      }
    `,
    of,
  );
  const figures = data.observationsConnection.edges.map(({ node }) => node);
  return (
    <>
      <BarChart
        title="Life expectancy in Kenya"
        unit={figures[0]?.unit ?? null}
        bars={figures.map(({ year, value }) => ({ label: String(year), value }))}
      />
      <button type="button" disabled={!hasNext || isLoadingNext} onClick={() => loadNext(PAGE)}>
        More
      </button>
    </>
  );
}

function Chart({ attempt }: { attempt: number }) {
  const query = useLazyLoadQuery<mainQuery>(
    graphql`
      query mainQuery {
        ...mainFigures
      }
    `,
    {},
    { fetchKey: attempt },
  );
  return <Figures of={query} />;
}

/** Catches failures of the network: Relay throws them while a page is drawn. */
class Guarded extends Component<
  { readonly note: (failure: unknown) => ReactNode; readonly children: ReactNode },
  { readonly failure: unknown }
> {
  override state = { failure: null };

  static getDerivedStateFromError(failure: unknown) {
    return { failure };
  }

  override render(): ReactNode {
    return this.state.failure === null ? this.props.children : this.props.note(this.state.failure);
  }
}

function Page() {
  const [attempt, setAttempt] = useState(0);
  const again = useCallback(() => setAttempt((before) => before + 1), []);
  return (
    <>
      <h1>Relay</h1>
      <Guarded key={attempt} note={(failure) => <FailureNote failure={failure} onRetry={again} />}>
        <Suspense fallback={<p>Loading…</p>}>
          <Chart attempt={attempt} />
        </Suspense>
      </Guarded>
      <Bill />
    </>
  );
}

createRoot(document.getElementById('root') ?? document.body).render(
  <RelayEnvironmentProvider environment={environment}>
    <Page />
  </RelayEnvironmentProvider>,
);
