import { GraphiQL } from 'graphiql';
import { StrictMode, useEffect, useState } from 'react';
import { createPortal } from 'react-dom';
import { createRoot } from 'react-dom/client';
import './editor-workers.ts';
import 'graphiql/style.css';
import '@graphiql/plugin-explorer/style.css';
import './style.css';
import './layout.css';
import './media.css';
import { useGraphiQL, useMonaco } from '@graphiql/react';
import { useCompletion } from './catalogue/completion.ts';
import { useStrongColours } from './editor-colours.ts';
import { useWaysOut } from './editor-keys.ts';
import { loadCharts, useEditorInTime, useLateEditor } from './editor-loading.ts';
import { endpoint } from './endpoint.ts';
import { fetcher } from './exchange.ts';
import { KeyBar } from './key-bar.tsx';
import { mendMarkup } from './mended-markup.ts';
import { early } from './opening/early.ts';
import { useOpening } from './opening/use-opening.ts';
import { pluginsFor } from './plugins.tsx';
import { ResultSide } from './result-side.tsx';
import { beginWithKey, loadSettings, type Settings } from './settings.ts';
import { copyWithoutClipboard } from './share/clipboard.ts';
import { ShareMenu } from './share/share-menu.tsx';
import { useSharedTab } from './share/shared-tab.ts';
import { useStandIns } from './stand-ins.ts';
import { storage } from './storage.ts';
import { storeTabs, useStoredTabs } from './stored-tabs.ts';
import { LESSONS } from './tabs.ts';
import { variablesFor } from './trusted.ts';

function App({ settings }: { readonly settings: Settings }) {
  useLateEditor();
  useStrongColours();
  const [plugins] = useState(() => pluginsFor(settings));
  const [tabs] = useState(() => tabsFor(settings));
  const isTrustedOnly = settings.trusted !== null;
  return (
    <>
      <KeyBar settings={settings} />
      <main>
        <GraphiQL
          fetcher={fetcher}
          plugins={plugins}
          defaultTabs={tabs}
          storage={storage}
          onTabChange={storeTabs}
          onCopyQuery={copyWithoutClipboard}
          shouldPersistHeaders={false}
          showPersistHeadersSettings={false}
          inputValueDeprecation
          {...(isTrustedOnly && { visiblePlugin: 'Documents' })}
        >
          <GraphiQL.Logo>
            <ShareMenu />
          </GraphiQL.Logo>
          <GraphiQL.Footer>
            <ResultSide settings={settings} />
          </GraphiQL.Footer>
          <Editors />
          {isTrustedOnly ? <ReadOnly /> : <Writing />}
          {!isTrustedOnly && endpoint().isOurs && <Completing />}
        </GraphiQL>
      </main>
    </>
  );
}

/**
 * Tabs of people who come for the first time. Their variables and headers are empty texts, as editors write them: from null, each
 * would change while the operation runs, and History takes such an operation for a new one.
 */
function tabsFor({ trusted }: Settings) {
  if (!endpoint().isOurs) return [{ query: '', variables: '', headers: '' }];
  if (trusted === null) return LESSONS.map(({ query }) => ({ query, variables: '', headers: '' }));
  return trusted.slice(0, 1).map((document) => ({ query: document.text, variables: variablesFor(document) }));
}

/** The editors come after pictures can be drawn: until then, others stand for them. */
function Editors() {
  useStandIns();
  useStoredTabs();
  useEditorInTime();
  useWaysOut();
  return <EarlyText />;
}

/** The operation to be read, in the place of the editor until that has come. */
function EarlyText() {
  const hasCome = useMonaco(({ monaco }) => monaco !== undefined);
  const query = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.query ?? '');
  const [place, setPlace] = useState<Element | null>(null);
  useEffect(() => setPlace(document.querySelector('.graphiql-query-editor')), []);
  return hasCome || place === null ? null : createPortal(<pre className="early">{query}</pre>, place);
}

/** Helps to write operations, if they may be written. */
function Writing() {
  useSharedTab();
  useOpening();
  return null;
}

function Completing() {
  useCompletion();
  return null;
}

/** Keeps the editor from being changed, if only operations of a list run. */
function ReadOnly() {
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  useEffect(() => {
    const value = 'This gateway runs trusted documents alone: choose one under Documents.';
    queryEditor?.updateOptions({ readOnly: true, readOnlyMessage: { value } });
    document.body.dataset.trusted = 'true';
  }, [queryEditor]);
  return null;
}

// Comes beside the settings, not after them.
void loadCharts().catch(() => {});

const page = document.getElementById('root') as HTMLElement;
mendMarkup(document.body);
const root = createRoot(page);
loadSettings().then(
  async (settings) => {
    beginWithKey(settings);
    await early.get()?.drawn;
    root.render(
      <StrictMode>
        <App settings={settings} />
      </StrictMode>,
    );
  },
  (error: unknown) => root.render(<p className="loading">GraphiQL could not start: {String(error)}</p>),
);
