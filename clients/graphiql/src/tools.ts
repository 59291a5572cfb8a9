import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useCallback } from 'react';
import { createStore } from './store.ts';
import type { Written } from './variables.ts';
import { isMedium, isNarrow, side } from './view.ts';

/** Opens an operation: in the tab that holds it already, otherwise in one of its own. */
export function useOpen(): (written: Written) => void {
  const tabs = useGraphiQL((state) => state.tabs);
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  const { addTab, changeTab } = useGraphiQLActions();
  const makeRoom = useMakeRoom();
  return useCallback(
    ({ query, variables = '' }) => {
      const position = tabs.findIndex((tab) => tab.query === query && (tab.variables ?? '') === variables);
      if (position >= 0) changeTab(position);
      else {
        addTab();
        queryEditor?.setValue(query);
        variableEditor?.setValue(variables);
      }
      makeRoom();
    },
    [tabs, queryEditor, variableEditor, addTab, changeTab, makeRoom],
  );
}

/** An operation that is run as soon as its tab is the one that is shown. */
export const toRun = createStore<Written | null>(null);

/** Opens an operation, runs it, and shows its picture. */
export function useAsk(): (written: Written) => void {
  const open = useOpen();
  return useCallback(
    (written) => {
      open(written);
      side.set('picture');
      toRun.set(written);
    },
    [open],
  );
}

/**
 * Changes the operation in the editor and runs it.
 * @returns true if it could be changed: it may have become another since it was run
 */
export function useEdit(): (edit: (query: string, variables: string) => Written | null) => boolean {
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  const { run } = useGraphiQLActions();
  return useCallback(
    (edit) => {
      const written = edit(queryEditor?.getValue() ?? '', variableEditor?.getValue() ?? '');
      if (written === null) return false;
      queryEditor?.setValue(written.query);
      variableEditor?.setValue(written.variables ?? '');
      void run();
      return true;
    },
    [queryEditor, variableEditor, run],
  );
}

/** Leaves the pane for the operation on a page without room for both. */
export function useMakeRoom(): () => void {
  const { setVisiblePlugin } = useGraphiQLActions();
  return useCallback(() => {
    if (isNarrow()) side.set('query');
    if (isMedium()) setVisiblePlugin(null);
  }, [setVisiblePlugin]);
}
