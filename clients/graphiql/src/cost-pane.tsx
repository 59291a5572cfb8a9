import { useGraphiQL } from '@graphiql/react';
import { Fragment, useEffect, useState } from 'react';
import type { Explained, Upstream } from './answer.ts';
import { apiKey } from './api-key.ts';
import { fullNumber } from './chart/numbers.ts';
import { endpoint } from './endpoint.ts';
import { type Exchange, lastExchange, nameIn } from './exchange.ts';
import { refusal } from './refusal.ts';
import { send } from './send.ts';
import { useStore } from './store.ts';
import { variablesIn } from './variables.ts';
import { localTime, Words } from './words.tsx';

interface Quota {
  readonly plan: string | null;
  readonly requestsPerMinute: number | null;
  readonly monthlyRequests: number | null;
  readonly callsThisMinute: number;
  readonly callsThisMonth: number;
  readonly minuteResetsAt: string;
  readonly monthResetsAt: string;
  readonly state: string;
}

const QUOTA = `{ quota {
  plan requestsPerMinute monthlyRequests callsThisMinute callsThisMonth minuteResetsAt monthResetsAt state
} }`;

/** Costs of the last operation and of the next one, and the calls that are left. */
export function CostPane() {
  const exchange = useStore(lastExchange);
  const upstream = exchange?.answer.extensions?.upstream;
  return (
    <>
      <h2>Last operation</h2>
      {upstream === undefined ? <p>{withoutBill(exchange)}</p> : <Cost upstream={upstream} />}
      <Explain />
      {endpoint().isOurs && <QuotaView />}
    </>
  );
}

function withoutBill(exchange: Exchange | null): string {
  if (exchange?.partly == null) return 'Run an operation to see what it costs.';
  return exchange.partly.isStopped
    ? 'Its last part, which would have had the bill, did not come.'
    : 'The bill comes with the last part of its answer.';
}

function Cost({
  upstream: { calls, byRoute = {}, shared, cached, naive = 0, stale = [] },
}: {
  readonly upstream: Upstream;
}) {
  return (
    <>
      <p className="calls" data-calls={calls}>
        <strong>{calls}</strong> {calls === 1 ? 'call' : 'calls'} to the metered service
        {naive > calls && (
          <>
            , instead of <strong>{naive}</strong> if each field fetched for itself
          </>
        )}
        .
      </p>
      <Routes byRoute={byRoute} />
      <dl>
        {cached !== undefined && (
          <>
            <dt>answers from the cache</dt>
            <dd>{cached}</dd>
          </>
        )}
        {shared !== undefined && (
          <>
            <dt>shared with other operations</dt>
            <dd>{shared}</dd>
          </>
        )}
      </dl>
      {stale.length > 0 && (
        <>
          <h3>Past their time</h3>
          <ul>
            {stale.map(({ route, code, answers, ageSeconds }) => (
              <li key={`${route} ${code}`}>
                {answers} of <code>{route}</code>, up to {ageSeconds} s old, since the service gave none (
                <code>{code}</code>)
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function Routes({ byRoute }: { readonly byRoute: Readonly<Record<string, number>> }) {
  const routes = Object.entries(byRoute);
  if (routes.length === 0) return null;
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">route</th>
          <th scope="col">calls</th>
        </tr>
      </thead>
      <tbody>
        {routes.map(([route, calls]) => (
          <tr key={route}>
            <td>
              <code>{route}</code>
            </td>
            <td>{calls}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Prices the operation in the editor. */
function Explain() {
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  const operationName = useGraphiQL((state) => state.operationName);
  const names = useGraphiQL((state) =>
    (state.operations ?? []).flatMap(({ name }) => name?.value ?? []).join(' '),
  );
  const [chosen, setChosen] = useState<string | null>(null);
  const [explained, setExplained] = useState<Explained | null>(null);
  const [error, setError] = useState<string | null>(null);
  const all = names === '' ? [] : names.split(' ');
  const name = all.find((one) => one === chosen) ?? operationName ?? all[0];

  async function explain() {
    setError(null);
    setExplained(null);
    const query = queryEditor?.getValue() ?? '';
    const variables = variablesIn(variableEditor?.getValue() ?? '');
    if (variables === null) {
      setError('The variables are not a JSON object, such as {"code": "KE"}.');
      return;
    }
    const answer = await send({ query, variables, operationName: nameIn(query, name) }, { 'x-explain': '1' });
    const plan = answer.extensions?.explain;
    if (plan !== undefined) setExplained(plan);
    const messages = (answer.errors ?? []).map(({ message }) => message);
    if (messages.length > 0) setError(messages.join(' '));
  }

  return (
    <section aria-label="Price before running">
      <h2>Before you run it</h2>
      {all.length > 1 && (
        <select
          aria-label="Operation to explain"
          value={name}
          onChange={(event) => setChosen(event.target.value)}
        >
          {all.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      )}{' '}
      <button type="button" className="explain" onClick={() => void explain()}>
        Explain
      </button>{' '}
      <span>sends nothing to the service.</span>
      <div role="status">
        {error !== null && (
          <p className="fault">
            <Words text={error} />
          </p>
        )}
        {explained !== null && (
          <>
            <p data-explained={explained.calls}>
              <strong>{explained.calls}</strong> {explained.calls === 1 ? 'call' : 'calls'} would be sent
              {boundsOf(explained)}.{' '}
              {explained.cached !== undefined &&
                `${fullNumber(explained.cached)} ${explained.cached === 1 ? 'answer is' : 'answers are'} in the cache.`}
            </p>
            <ol className="plan">
              {(explained.plan ?? []).map(({ target, cached }) => (
                <li key={`${target} ${cached}`}>
                  <code>
                    <Target text={target} />
                  </code>
                  {cached && ' (cached)'}
                </li>
              ))}
            </ol>
          </>
        )}
      </div>
    </section>
  );
}

/** What the calls may be, and are allowed to be, as far as that is told. */
function boundsOf({ least = 0, most = 0, limit }: Explained): string {
  const range = least < most ? ` (at least ${least}, at most ${most})` : '';
  return limit === undefined ? range : `${range}; the gateway allows ${limit}`;
}

/** The address of a call, with places between its items at which a line may end. */
function Target({ text }: { readonly text: string }) {
  const [first = '', ...rest] = text.split(/(?<=[,&?])/);
  return (
    <>
      {first}
      {rest.map((part, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other name
        <Fragment key={i}>
          <wbr />
          {part}
        </Fragment>
      ))}
    </>
  );
}

/** Part of a plan that is spent: the service counts, and refuses, calls beyond it. */
function spentOf(calls: number, limit: number | null): string {
  const written = (count: number) => count.toLocaleString('en');
  if (limit === null) return written(calls);
  if (calls <= limit) return `${written(calls)} of ${written(limit)}`;
  return `all ${written(limit)}, and ${written(calls - limit)} asked beyond them`;
}

/**
 * The same, if the service has said that all is spent: it has counted calls that this gateway hasn't sent.
 */
function spentWords(calls: number, limit: number | null, isSpent: boolean): string {
  if (!isSpent || (limit !== null && calls >= limit)) return spentOf(calls, limit);
  const all = limit === null ? 'all' : `all ${limit.toLocaleString('en')}`;
  return `${all}, as the service says`;
}

const STATES: Readonly<Record<string, string>> = {
  OK: 'can be used',
  MINUTE_SPENT: 'minute spent',
  MONTH_SPENT: 'month spent',
};

function QuotaView() {
  const exchange = useStore(lastExchange);
  const key = useStore(apiKey);
  const refused = useStore(refusal);
  const [quota, setQuota] = useState<Quota | null>(null);
  // Asks nothing for each of the parts of an answer while they come.
  const settled = exchange?.partly?.isStopped === false ? null : exchange;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each operation may have spent something
  useEffect(() => {
    let isCurrent = true;
    // Costs nothing to ask: it is the gateways' own count.
    if (key === '') setQuota(null);
    else {
      send({ query: QUOTA }).then(
        ({ data }) => isCurrent && setQuota((data as { quota: Quota | null } | null)?.quota ?? null),
        () => {},
      );
    }
    return () => {
      isCurrent = false;
    };
  }, [settled, key]);
  if (quota === null && refused === null) return null;
  return (
    <section aria-label="Quota of the key">
      <h2>Your key</h2>
      <dl>
        {quota !== null && <Spent quota={quota} />}
        <dt>state</dt>
        <dd>
          {refused === null ? (
            stateOf(quota?.state ?? '')
          ) : (
            <>
              refused: <Words text={refused} />
            </>
          )}
        </dd>
      </dl>
    </section>
  );
}

const stateOf = (state: string) => STATES[state] ?? state.toLowerCase().replaceAll('_', ' ');

function Spent({ quota }: { readonly quota: Quota }) {
  const { callsThisMinute, callsThisMonth, requestsPerMinute, monthlyRequests, state } = quota;
  return (
    <>
      <dt>plan</dt>
      <dd>{quota.plan ?? 'not told yet'}</dd>
      <dt>calls this minute</dt>
      <dd>
        {spentWords(callsThisMinute, requestsPerMinute, state === 'MINUTE_SPENT')}, until{' '}
        {localTime(quota.minuteResetsAt, { timeStyle: 'medium' })}
      </dd>
      <dt>calls this month</dt>
      <dd>
        {spentWords(callsThisMonth, monthlyRequests, state === 'MONTH_SPENT')}, until{' '}
        {localTime(quota.monthResetsAt, { dateStyle: 'long' })}
      </dd>
    </>
  );
}
