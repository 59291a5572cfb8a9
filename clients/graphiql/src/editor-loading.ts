import { useGraphiQL, useMonaco } from '@graphiql/react';
import { useEffect, useState } from 'react';
import { editorWanted, wantEditor } from './wanted.ts';

/** Loads the part that draws pictures, which people see before they write. */
export const loadCharts = () => import('./chart/chart-pane.tsx');

/** Longest time, in milliseconds, in which a question that somebody asks has the line for itself. */
const MOST_MS = 2_000;

/** Puts off the editor, which is three times as large as all that a picture takes, until it is wanted. */
export function useLateEditor(): void {
  const actions = useMonaco((state) => state.actions);
  useState(() => {
    const { initialize } = actions;
    actions.initialize = (options) => editorWanted.then(() => initialize(options));
  });
}

/**
 * A telephone would work for seconds on an editor that most people never write in there: it comes when its place is
 * touched, where the operation can be read before.
 */
const BY_TOUCH = '(hover: none) and (pointer: coarse)';

/** Places for writing, and for looking things up in the schema. */
const PLACES = '.graphiql-editors, .graphiql-sidebar, .graphiql-plugin';

/** Has the editor loaded once pictures can be drawn and nothing is under way, or as soon as somebody turns to its place. */
export function useEditorInTime(): void {
  const isFetching = useGraphiQL((state) => state.isFetching);
  const [canDraw, setDraw] = useState(false);
  useEffect(() => {
    const done = () => setDraw(true);
    loadCharts().then(done, done);
    const turnTo = ({ target }: Event) => {
      if (target instanceof Element && target.closest(PLACES) !== null) wantEditor();
    };
    for (const kind of ['pointerdown', 'focusin']) document.addEventListener(kind, turnTo);
    return () => {
      for (const kind of ['pointerdown', 'focusin']) document.removeEventListener(kind, turnTo);
    };
  }, []);
  useEffect(() => {
    if (!canDraw || isFetching || matchMedia(BY_TOUCH).matches) return;
    // Waits on a slow line as long again as the page has taken so far, or a question would wait for the
    // editor.
    const timer = setTimeout(wantEditor, Math.min(MOST_MS, performance.now()));
    return () => clearTimeout(timer);
  }, [canDraw, isFetching]);
}
