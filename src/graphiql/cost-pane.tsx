import { useGraphiQL } from '@graphiql/react';
import { useEffect, useState } from 'react';
import { apiKey } from './api-key.ts';
import { type Explained, lastExchange, nameIn, send, type Upstream } from './exchange.ts';
import { useStore } from './store.ts';

interface Quota {
  readonly plan: string | null;
  readonly requestsPerMinute: number | null;
  readonly monthlyRequests: number | null;
  readonly callsThisMinute: number;
  readonly callsThisMonth: number;
  readonly minuteResetsAt: string;
  readonly monthResetsAt: string;
  readonly state: 'OK' | 'MINUTE_SPENT' | 'MONTH_SPENT';
}

const QUOTA = `{ quota {
  plan requestsPerMinute monthlyRequests callsThisMinute callsThisMonth minuteResetsAt monthResetsAt state
} }`;

/** What the last operation cost, what the next one would cost, and what is left. */
export function CostPane() {
  const exchange = useStore(lastExchange);
  const upstream = exchange?.answer.extensions?.upstream;
  return (
    <>
      <h2>Last operation</h2>
      {upstream === undefined ? <p>Run an operation to see what it costs.</p> : <Cost upstream={upstream} />}
      <Explain />
      <QuotaView />
    </>
  );
}

function Cost({
  upstream: { calls, byRoute, shared, cached, naive, stale = [] },
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
        <dt>answers from the cache</dt>
        <dd>{cached}</dd>
        <dt>shared with other operations</dt>
        <dd>{shared}</dd>
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

/** Prices what stands in the editor. */
function Explain() {
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  const operationName = useGraphiQL((state) => state.operationName);
  const [explained, setExplained] = useState<Explained | null>(null);
  const [fault, setFault] = useState<string | null>(null);

  async function explain() {
    setFault(null);
    setExplained(null);
    try {
      const query = queryEditor?.getValue() ?? '';
      const text = variableEditor?.getValue().trim() ?? '';
      const answer = await send(
        {
          query,
          variables: text === '' ? {} : JSON.parse(text),
          operationName: nameIn(query, operationName),
        },
        { 'x-explain': '1' },
      );
      const plan = answer.extensions?.explain;
      if (plan !== undefined) setExplained(plan);
      const messages = (answer.errors ?? []).map(({ message }) => message);
      if (messages.length > 0) setFault(messages.join(' '));
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    }
  }

  return (
    <section aria-label="Price before running">
      <h2>Before you run it</h2>
      <button type="button" className="explain" onClick={() => void explain()}>
        Explain
      </button>{' '}
      <span>sends nothing to the service.</span>
      <div role="status">
        {fault !== null && <p className="fault">{fault}</p>}
        {explained !== null && (
          <>
            <p data-explained={explained.calls}>
              <strong>{explained.calls}</strong> {explained.calls === 1 ? 'call' : 'calls'} would be sent (at
              least {explained.least}, at most {explained.most}; the gateway allows {explained.limit});{' '}
              {explained.cached} answers are in the cache.
            </p>
            <ol className="plan">
              {explained.plan.map(({ target, cached }) => (
                <li key={`${target} ${cached}`}>
                  <code>{target}</code>
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

function QuotaView() {
  const exchange = useStore(lastExchange);
  const key = useStore(apiKey);
  const [quota, setQuota] = useState<Quota | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each operation may have spent something
  useEffect(() => {
    let isCurrent = true;
    // Asking costs nothing: it is what the gateways have counted.
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
  }, [exchange, key]);
  if (quota === null) return null;
  const of = (limit: number | null) => (limit === null ? '' : ` of ${limit.toLocaleString('en')}`);
  const time = (instant: string) => new Date(instant).toLocaleString();
  return (
    <section aria-label="Quota of the key">
      <h2>Your key</h2>
      <dl>
        <dt>plan</dt>
        <dd>{quota.plan ?? 'not told yet'}</dd>
        <dt>calls this minute</dt>
        <dd>
          {quota.callsThisMinute}
          {of(quota.requestsPerMinute)}, until {time(quota.minuteResetsAt)}
        </dd>
        <dt>calls this month</dt>
        <dd>
          {quota.callsThisMonth}
          {of(quota.monthlyRequests)}, until {time(quota.monthResetsAt)}
        </dd>
        <dt>state</dt>
        <dd>
          {quota.state === 'OK'
            ? 'can be used'
            : quota.state === 'MINUTE_SPENT'
              ? 'minute spent'
              : 'month spent'}
        </dd>
      </dl>
    </section>
  );
}
