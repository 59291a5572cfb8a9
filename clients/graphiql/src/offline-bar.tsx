import { lastExchange } from './exchange.ts';
import { useStore } from './store.ts';
import { localTime } from './words.tsx';

/** Says that no call has left for the answer, and how old it is. */
export function OfflineBar() {
  const { offline, oldestFetchedAt } = useStore(lastExchange)?.answer.extensions?.freshness ?? {};
  if (offline !== true) return null;
  return (
    <div className="live offline">
      <p className="words" role="status">
        <strong>Offline</strong>
        {oldestFetchedAt !== undefined &&
          `, as of ${localTime(oldestFetchedAt, { dateStyle: 'long', timeStyle: 'short' })}`}
        : no call was sent.
      </p>
    </div>
  );
}
