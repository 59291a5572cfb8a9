import { useGraphiQLActions } from '@graphiql/react';
import { type Exchange, lastExchange } from './exchange.ts';
import { useStore } from './store.ts';

export const isComing = (exchange: Exchange | null): boolean => exchange?.partly?.isStopped === false;

/** State of an answer that comes in parts, and a way to do without the rest. */
export function PartsBar() {
  const exchange = useStore(lastExchange);
  const { stop } = useGraphiQLActions();
  if (exchange?.partly == null) return null;
  const { parts, isStopped } = exchange.partly;
  const came = `${parts} ${parts === 1 ? 'part' : 'parts'} of the answer`;
  return (
    <div className="live" data-state={isStopped ? 'ended' : 'current'}>
      <p className="words" role="status">
        {isStopped ? (
          <>
            <strong>Stopped.</strong> {came} came before you stopped it.
          </>
        ) : (
          <>
            <strong>Coming.</strong> {came} so far; the rest is on its way.
          </>
        )}
      </p>
      {!isStopped && (
        <button type="button" className="stop" onClick={stop}>
          Stop
        </button>
      )}
    </div>
  );
}
