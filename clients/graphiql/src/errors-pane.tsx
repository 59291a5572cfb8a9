import { useGraphiQL } from '@graphiql/react';
import { isEnumType } from 'graphql';
import { useEffect, useState } from 'react';
import { timeIn } from '../../../src/shared/periods.ts';
import { type GraphError, messageOf } from './answer.ts';
import { lastExchange } from './exchange.ts';
import { useStore } from './store.ts';
import { Warnings } from './warnings.tsx';
import { Words } from './words.tsx';

/** Words of the page itself, for answers that the gateway didn't give. */
const OWN_CODES: Readonly<Record<string, string>> = {
  NOT_REACHED: 'Nothing answered.',
  CUT_OFF: 'The connection broke before all of the answer was there.',
  UNKNOWN: 'The error has no code.',
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
      <Retry error={all[0] as GraphError} code={code} />
      <ul>
        {[...Map.groupBy(all, messageOf)].map(([message, same]) => (
          <li key={message}>
            <Places paths={same.flatMap(({ path }) => (path === undefined ? [] : [path.join('.')]))} />
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

/** Paths that are written for one message; of more there is the number. */
const MAX_PATHS = 4;

/** Names the fields that failed alike, once. */
function Places({ paths }: { readonly paths: readonly string[] }) {
  if (paths.length === 0) return null;
  const more = paths.length - MAX_PATHS;
  return (
    <>
      {paths.length > 1 && `${paths.length} fields: `}
      <code>{paths.slice(0, MAX_PATHS).join(', ')}</code>
      {more > 0 && ` and ${more} more`}:{' '}
    </>
  );
}

/** Says what helps, in words for this page. */
function Retry({ error: { extensions = {} }, code }: { readonly error: GraphError; readonly code: string }) {
  const retryAt = text(extensions.retryAt);
  const resetsAt = text(extensions.resetsAt);
  if (code === 'UNAUTHENTICATED') return <p>Enter your key above, and run it again.</p>;
  if (text(extensions.command) !== null) return <p>Once that is fetched, run it again.</p>;
  if (retryAt !== null) return <Countdown until={retryAt} />;
  if (resetsAt !== null)
    return <p>They come back on {instantInUtc(resetsAt)}: before, asking again makes no sense.</p>;
  if (extensions.retryable === undefined) return null;
  return (
    <p>{extensions.retryable === true ? 'Asking again may help.' : 'Asking again as it is will not help.'}</p>
  );
}

/** A time as the service counts it: `1 December at 00:00 UTC`. */
function instantInUtc(time: string): string {
  const read = timeIn(time);
  if (read === null) return time;
  const at = new Date(read.firstMs);
  const day = at.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC' });
  return `${day} at ${at.toISOString().slice(11, 16)} UTC`;
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
