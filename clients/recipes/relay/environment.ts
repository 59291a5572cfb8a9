import { errorsOf } from '@country-graph/client';
import { Environment, type FetchFunction, Network, RecordSource, Store } from 'relay-runtime';
import { noteBill } from '../common/bill.tsx';
import { GATEWAY, HEADERS } from '../common/settings.ts';

const ask: FetchFunction = async ({ text }, variables) => {
  const response = await fetch(GATEWAY, {
    method: 'POST',
    headers: { ...HEADERS, 'content-type': 'application/json', accept: 'application/graphql-response+json' },
    body: JSON.stringify({ query: text, variables }),
  });
  const answer = await response.json();
  noteBill(answer.extensions);
  // Relay keeps the data of an answer with errors, and no more: those that a page can do something about are thrown.
  const errors = errorsOf(answer);
  if (errors.length > 0) throw Object.assign(new Error(errors[0]?.message), { errors });
  return answer;
};

export const environment = new Environment({
  network: Network.create(ask),
  store: new Store(new RecordSource()),
});
