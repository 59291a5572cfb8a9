import { useGraphiQL } from '@graphiql/react';
import { useEffect, useRef } from 'react';
import { useStore } from '../store.ts';
import { useOpen } from '../tools.ts';
import { side } from '../view.ts';
import { followed, toSee } from './followed.ts';
import { sharedIn } from './link.ts';
import { see } from './seen.ts';
import { seenOf } from './seen-text.ts';

/** Opens the operation of a link in a tab, and takes it out of the address. It runs once somebody runs it. */
export function useSharedTab(): void {
  const open = useOpen();
  const isReady = useGraphiQL(
    ({ queryEditor, variableEditor }) => queryEditor !== undefined && variableEditor !== undefined,
  );
  useSeen();
  // Some frames keep their addresses: a link that was opened is not opened again.
  const taken = useRef('');
  useEffect(() => {
    if (!isReady) return;
    const take = (event?: Event) => {
      const shared = sharedIn(location.hash);
      if (shared === null || (event === undefined && location.hash === taken.current)) return;
      taken.current = location.hash;
      try {
        history.replaceState(null, '', location.pathname + location.search);
      } catch {
        // Some frames may not change their addresses.
      }
      open(shared);
      side.set('answer');
      followed.set(shared.query);
      const seen = seenOf(shared.seen ?? '');
      toSee.set(seen === null ? null : { query: shared.query, seen });
    };
    take();
    window.addEventListener('hashchange', take);
    return () => window.removeEventListener('hashchange', take);
  }, [isReady, open]);
}

/** Shows the view that a link asks for, once its tab is the one that is shown. */
function useSeen(): void {
  const id = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.id ?? '');
  const query = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.query ?? '');
  const wanted = useStore(toSee);
  useEffect(() => {
    if (wanted === null || wanted.query !== query) return;
    toSee.set(null);
    see(id, wanted.seen);
  }, [wanted, query, id]);
}
