import { useGraphiQL } from '@graphiql/react';
import { isEnumType } from 'graphql';
import { useEffect, useState } from 'react';
import { timeIn } from '../shared/periods.ts';
import type { GraphError } from './answer.ts';
import { lastExchange } from './exchange.ts';
import { useStore } from './store.ts';
import { Warnings } from './warnings.tsx';
import { localTime, Words } from './words.tsx';

/** Words of the page itself, for answers that the gateway didn't give. */
const OWN_CODES: Readonly<Record<string, string>> = {
  NOT_REACHED: 'Nothing answered.',
  CUT_OFF: 'The connection broke before all of the answer was there.',
  NOT_GRAPHQL: 'Something answered, but not the gateway.',
};

/** The errors of the last response in words, and when it makes sense to ask again. */
export function ErrorsPane() {
  const exchange = useStore(lastExchange);
  const schema = useGraphiQL((state) => state.schema);
  const errors = exchange?.answer.errors ?? [];
  const codes = schema?.getType('ErrorCode');
  const meaningOf = (code: string) =>
    (isEnumType(codes) ? codes.getValue(code)?.description : null) ??
    OWN_CODES[code] ??
    'This code has no description.';
  if (exchange === null) return <p>Run an operation; what goes wrong is explained here.</p>;
  if (errors.length === 0)
    return (
      <>
        <p>{exchange.partly === null ? 'The last operation had no errors.' : 'No errors so far.'}</p>
        <Warnings />
      </>
    );
  const byCode = Map.groupBy(errors, ({ extensions }) => extensions?.code ?? 'UNKNOWN');
  const sections = [...byCode].map(([code, all]) => (
    <section key={code} className="error" aria-label={code}>
      <h2>
        <code>{code}</code>
      </h2>
      <p>
        <Words text={meaningOf(code)} />
      </p>
      <Retry error={all[0] as GraphError} />
      <ul>
        {all.map(({ message, path }) => (
          <li key={`${path?.join('.')} ${message}`}>
            {path !== undefined && (
              <>
                <code>{path.join('.')}</code>:{' '}
              </>
            )}
            <Words text={message} />
          </li>
        ))}
      </ul>
    </section>
  ));
  return (
    <>
      {sections}
      <Warnings />
    </>
  );
}

function Retry({ error: { extensions = {} } }: { readonly error: GraphError }) {
  const retryAt = text(extensions.retryAt);
  const resetsAt = text(extensions.resetsAt);
  if (retryAt !== null) return <Countdown until={retryAt} />;
  if (resetsAt !== null) return <p>Asking again makes no sense before {localTime(resetsAt)}.</p>;
  return (
    <p>{extensions.retryable === true ? 'Asking again may help.' : 'Asking again as it is will not help.'}</p>
  );
}

function Countdown({ until }: { readonly until: string }) {
  const secondsLeft = () => Math.max(0, Math.ceil(((timeIn(until)?.firstMs ?? 0) - Date.now()) / 1000));
  const [seconds, setSeconds] = useState(secondsLeft);
  useEffect(() => {
    const timer = setInterval(() => setSeconds(secondsLeft()), 500);
    return () => clearInterval(timer);
  });
  return (
    <p role="timer" data-seconds={seconds}>
      {seconds > 0 ? `Ask again in ${seconds} s.` : 'Ask again now.'}
    </p>
  );
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
