import { useGraphiQL } from '@graphiql/react';
import { useEffect } from 'react';
import { useOpen } from '../tools.ts';
import { side } from '../view.ts';
import { followed } from './followed.ts';
import { sharedIn } from './link.ts';

/** Opens what a link brought, in a tab, and takes it out of the address. It runs when somebody runs it. */
export function useSharedTab(): void {
  const open = useOpen();
  const isReady = useGraphiQL(
    ({ queryEditor, variableEditor }) => queryEditor !== undefined && variableEditor !== undefined,
  );
  useEffect(() => {
    if (!isReady) return;
    const take = () => {
      const shared = sharedIn(location.hash);
      if (shared === null) return;
      try {
        history.replaceState(null, '', location.pathname + location.search);
      } catch {
        // Some frames may not change their addresses.
      }
      open(shared);
      side.set('answer');
      followed.set(shared.query);
    };
    take();
    window.addEventListener('hashchange', take);
    return () => window.removeEventListener('hashchange', take);
  }, [isReady, open]);
}
