import { useSyncExternalStore } from 'react';
import type { Side } from './side.ts';
import { createStore } from './store.ts';
import { tabStorage } from './tab-storage.ts';

export const side = createStore<Side>(tabStorage.read('side') ?? 'answer');

/** True if the right side has the whole page. */
export const isWide = createStore(tabStorage.read('wide') === true);

/** True once somebody has said which side to show: until then, it is the picture if there is one. */
export const isSideChosen = createStore(tabStorage.read('chosen') === true);

isSideChosen.subscribe(() => tabStorage.write('chosen', isSideChosen.get()));
side.subscribe(() => tabStorage.write('side', side.get()));
isWide.subscribe(() => tabStorage.write('wide', isWide.get()));

/** Below this there is room for one thing at a time. As in the style sheet. */
const narrow = matchMedia('(max-width: 700px)');
/** Below this a pane at the left takes the room of the answer. As in the style sheet. */
const medium = matchMedia('(max-width: 1000px)');

/** Matches while the page is being printed. */
export const paper = matchMedia('print');

if (narrow.matches && tabStorage.read('side') === null) side.set('query');

const listen = (listener: () => void) => {
  narrow.addEventListener('change', listener);
  return () => narrow.removeEventListener('change', listener);
};

export function useNarrow(): boolean {
  return useSyncExternalStore(listen, () => narrow.matches);
}

export const isNarrow = () => narrow.matches;
export const isMedium = () => medium.matches;

/** True if GraphiQL is dark: as somebody has chosen there, or else as the system is. Paper is white. */
export function looksDark(): boolean {
  if (paper.matches) return false;
  const { classList } = document.body;
  if (classList.contains('graphiql-dark')) return true;
  return !classList.contains('graphiql-light') && dark.matches;
}

const dark = matchMedia('(prefers-color-scheme: dark)');

/** Tells each time that it may be otherwise. */
export function onLooks(listener: () => void): () => void {
  const chosen = new MutationObserver(listener);
  chosen.observe(document.body, { attributes: true, attributeFilter: ['class'] });
  for (const media of [paper, dark]) media.addEventListener('change', listener);
  return () => {
    chosen.disconnect();
    for (const media of [paper, dark]) media.removeEventListener('change', listener);
  };
}
