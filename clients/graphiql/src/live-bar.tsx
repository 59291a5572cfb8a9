import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { isUnderWay, type LiveStatus, liveStatus } from './live-status.ts';
import { useStore } from './store.ts';
import { Words } from './words.tsx';

const STATES: Readonly<Record<LiveStatus['state'], string>> = {
  waiting: 'Live',
  current: 'Live',
  paused: 'Paused',
  ended: 'Ended',
};

/** State of the subscription of the tab that is shown, and a way to end it. */
export function LiveBar() {
  const status = useStore(liveStatus);
  const tab = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.id ?? '');
  const { stop } = useGraphiQLActions();
  if (status === null || status.tab !== tab) return null;
  return (
    <div className="live" data-state={status.state}>
      <p className="words" role="status">
        <strong>{STATES[status.state]}.</strong> <Words text={wordsOf(status)} />
      </p>
      {isUnderWay(status) && (
        <button type="button" className="stop" onClick={stop}>
          Stop
        </button>
      )}
    </div>
  );
}

function wordsOf({ state, events, at, words }: LiveStatus): string {
  const count =
    at === null
      ? 'Nothing has been told yet: an event comes when something changes.'
      : `${events} ${events === 1 ? 'event' : 'events'}, the last at ${new Date(at).toLocaleTimeString()}.`;
  return state === 'paused' || state === 'ended' ? `${words} ${at === null ? '' : count}` : count;
}
