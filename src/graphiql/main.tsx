import { explorerPlugin } from '@graphiql/plugin-explorer';
import { GraphiQL, HISTORY_PLUGIN } from 'graphiql';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import 'graphiql/setup-workers/vite';
import 'graphiql/style.css';
import '@graphiql/plugin-explorer/style.css';
import './style.css';
import { apiKey, keepKey } from './api-key.ts';
import { useStrongColours } from './editor-colours.ts';
import { fetcher } from './exchange.ts';
import { KeyBar } from './key-bar.tsx';
import { mendMarkup } from './mended-markup.ts';
import { CHART, COST, ERRORS } from './plugins.tsx';
import { loadSettings, type Settings } from './settings.ts';
import { LESSONS } from './tabs.ts';

const PLUGINS = [HISTORY_PLUGIN, explorerPlugin(), CHART, COST, ERRORS];
const TABS = LESSONS.map(({ query }) => ({ query }));

function App({ settings }: { readonly settings: Settings }) {
  useStrongColours();
  return (
    <>
      <KeyBar settings={settings} />
      <main>
        <GraphiQL
          fetcher={fetcher}
          plugins={PLUGINS}
          defaultTabs={TABS}
          shouldPersistHeaders={false}
          showPersistHeadersSettings={false}
          inputValueDeprecation
        >
          <GraphiQL.Logo>{null}</GraphiQL.Logo>
        </GraphiQL>
      </main>
    </>
  );
}

const page = document.getElementById('root') as HTMLElement;
mendMarkup(page);
const root = createRoot(page);
loadSettings().then(
  (settings) => {
    const [demoKey] = Object.values(settings.demoKeys ?? {});
    if (apiKey.get() === '' && demoKey !== undefined) keepKey(demoKey, false);
    root.render(
      <StrictMode>
        <App settings={settings} />
      </StrictMode>,
    );
  },
  (error: unknown) => root.render(<p className="loading">GraphiQL could not start: {String(error)}</p>),
);
