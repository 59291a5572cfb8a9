import { gql as apolloText } from '@apollo/client';
import {
  ApolloProvider,
  useQuery as useApolloQuery,
  useSubscription as useApolloSubscription,
} from '@apollo/client/react';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import { gql, Provider, useQuery, useSubscription } from 'urql';
import { client as apollo } from '../generated/live/apollo.ts';
import { type Event, onEvent } from '../generated/live/on-event.ts';
import { client as urql } from '../generated/live/urql.ts';

interface Figures {
  readonly country: { readonly observation: { readonly value: number } | null } | null;
}

const FIGURES = `
  query Figures {
    country(code: "KE") { code observation(metricKey: "population_total") { id value } }
  }
`;
const CHANGED = `
  subscription Changed {
    observationsChanged(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) {
      changes { kind formerId observation { id value } }
    }
  }
`;

/** What the page shows, and how many events it has acted on. */
function Shown({ data, events }: { readonly data: Figures | undefined; readonly events: number }) {
  return (
    <>
      <p className="figure">{data?.country?.observation?.value ?? 'Loading…'}</p>
      <p className="events">{events}</p>
    </>
  );
}

function UrqlPage() {
  const [{ data }, refetch] = useQuery<Figures>({ query: gql(FIGURES) });
  const [events, setEvents] = useState(0);
  useSubscription<{ observationsChanged: Event }>({ query: gql(CHANGED) }, (_, { observationsChanged }) => {
    refetch({ requestPolicy: 'network-only' });
    setEvents((count) => count + 1);
    return { observationsChanged };
  });
  return <Shown data={data} events={events} />;
}

const APOLLO_FIGURES = apolloText(FIGURES);
const APOLLO_CHANGED = apolloText(CHANGED);

function ApolloPage() {
  const { data, refetch } = useApolloQuery<Figures>(APOLLO_FIGURES, { errorPolicy: 'all' });
  const [events, setEvents] = useState(0);
  useApolloSubscription<{ observationsChanged: Event }>(APOLLO_CHANGED, {
    errorPolicy: 'all',
    onData({ data: { data: told } }) {
      if (told !== undefined) void onEvent(told.observationsChanged as Event, refetch);
      setEvents((count) => count + 1);
    },
  });
  return <Shown data={data as Figures | undefined} events={events} />;
}

const PAGES = {
  apollo: () => (
    <ApolloProvider client={apollo}>
      <ApolloPage />
    </ApolloProvider>
  ),
  urql: () => (
    <Provider value={urql}>
      <UrqlPage />
    </Provider>
  ),
};

const Page = new URLSearchParams(location.search).get('client') === 'apollo' ? PAGES.apollo : PAGES.urql;
createRoot(document.getElementById('root') ?? document.body).render(<Page />);
