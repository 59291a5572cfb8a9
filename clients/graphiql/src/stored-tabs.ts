import { type TabsState, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useEffect } from 'react';
import { forGood } from './origin-storage.ts';

const TABS = 'graphiql:tabState';

/** Texts of the tab that is shown, by the names under which GraphiQL stores them besides. */
const TEXTS = { 'graphiql:query': 'query', 'graphiql:variables': 'variables' } as const;

const isText = (name: string): name is keyof typeof TEXTS => name in TEXTS;

/**
 * True for items that GraphiQL writes one after the other, up to half a second late. A page that is loaded again in between would
 * find a text that is in none of its tabs, and show it in a new one, without the answer and its pictures.
 */
export const isOfTabs = (name: string) => name === TABS || isText(name);

/** What GraphiQL finds as a text of the tab that is shown: that of the stored tab; undefined for another item. */
export function storedTextOf(name: string): string | null | undefined {
  if (!isText(name)) return undefined;
  try {
    const stored = JSON.parse(forGood.getItem(TABS) ?? 'null') as Partial<TabsState> | null;
    const text: unknown = stored?.tabs?.[stored.activeTabIndex ?? 0]?.[TEXTS[name]];
    return typeof text === 'string' ? text : null;
  } catch {
    return null;
  }
}

/** Stores tabs as they are now, in the form in which GraphiQL reads them: answers are kept elsewhere, headers nowhere. */
export function storeTabs({ tabs, activeTabIndex }: TabsState): void {
  const stored = tabs.map((tab) => ({ ...tab, hash: null, response: null, headers: null }));
  forGood.setItem(TABS, JSON.stringify({ tabs: stored, activeTabIndex }));
}

/** Stores the tabs that a page begins with, and as it is left, what has just been written: GraphiQL waits for a pause. */
export function useStoredTabs(): void {
  const { updateActiveTabValues } = useGraphiQLActions();
  const tabs = useGraphiQL((state) => state.tabs);
  const activeTabIndex = useGraphiQL((state) => state.activeTabIndex);
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  // biome-ignore lint/correctness/useExhaustiveDependencies: GraphiQL tells the changes
  useEffect(() => storeTabs({ tabs, activeTabIndex }), []);
  useEffect(() => {
    const onLeave = () => {
      const tab = tabs[activeTabIndex];
      const query = queryEditor?.getValue() ?? '';
      const variables = variableEditor?.getValue() ?? '';
      if (query === (tab?.query ?? '') && variables === (tab?.variables ?? '')) return;
      updateActiveTabValues({ query, variables });
    };
    window.addEventListener('pagehide', onLeave);
    return () => window.removeEventListener('pagehide', onLeave);
  }, [tabs, activeTabIndex, queryEditor, variableEditor, updateActiveTabValues]);
}
