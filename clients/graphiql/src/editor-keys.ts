import { useGraphiQL, useMonaco } from '@graphiql/react';
import { useEffect } from 'react';
import { shownSide } from './focus.ts';

/** What Escape closes, or ends, in an editor before it leaves the editor. */
const OPEN_IN_EDITOR = [
  'suggestWidgetVisible',
  'parameterHintsVisible',
  'findWidgetVisible',
  'editorHoverVisible',
  'editorHasSelection',
  'editorHasMultipleSelections',
  'inSnippetMode',
  'markersNavigationVisible',
];

/** Lets people leave an editor by keyboard: Tab goes on, and Escape goes to Run, or from an answer to its tab. */
export function useWaysOut(): void {
  const monaco = useMonaco((state) => state.monaco);
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  const headerEditor = useGraphiQL((state) => state.headerEditor);
  const responseEditor = useGraphiQL((state) => state.responseEditor);
  useEffect(() => {
    if (monaco === undefined) return;
    const leaving = new AbortController();
    const disposables = [queryEditor, variableEditor, headerEditor, responseEditor].flatMap((editor) => {
      // A stand-in takes no keys.
      if (editor === undefined || !('addAction' in editor)) return [];
      editor.getDomNode()?.addEventListener('keydown', passTab, { capture: true, signal: leaving.signal });
      const isAnswer = editor === responseEditor;
      return editor.addAction({
        id: 'leave-editor',
        label: 'Leave the Editor',
        keybindings: [monaco.KeyCode.Escape],
        precondition: OPEN_IN_EDITOR.map((name) => `!${name}`).join(' && '),
        run: () => (isAnswer ? shownSide() : runButton())?.focus(),
      });
    });
    return () => {
      leaving.abort();
      for (const disposable of disposables) disposable.dispose();
    };
  }, [monaco, queryEditor, variableEditor, headerEditor, responseEditor]);
}

const runButton = () => document.querySelector<HTMLElement>('.graphiql-execute-button');

/** Leaves Tab to the browser, unless the editor takes a suggestion by it: lines are indented by Ctrl-]. */
function passTab(event: KeyboardEvent): void {
  const { key, target, currentTarget } = event;
  if (key !== 'Tab' || !(target instanceof Element) || !target.matches('.inputarea')) return;
  const isOffering = currentTarget instanceof Element && currentTarget.querySelector(OFFERS) !== null;
  if (!isOffering) event.stopPropagation();
}

/** Selects lists and texts that Tab takes something of. */
const OFFERS = '.suggest-widget.visible, .ghost-text, .snippet-placeholder';
