import { explorerPlugin } from '@graphiql/plugin-explorer';
import type { GraphiQLPlugin } from '@graphiql/react';
import { HISTORY_PLUGIN } from 'graphiql';
import type { ComponentType, ReactNode } from 'react';
import { CataloguePane } from './catalogue/catalogue-pane.tsx';
import { DocumentsPane } from './documents-pane.tsx';
import { endpoint } from './endpoint.ts';
import { useFocusHandedOn } from './focus.ts';
import { LessonsPane } from './lessons-pane.tsx';
import type { Settings } from './settings.ts';

const LESSONS = pane(
  'Lessons',
  'M4 5.500c3-1 6-.5 8 1 2-1.500 5-2 8-1v13c-3-1-6-.5-8 1-2-1.500-5-2-8-1zM12 6.500v13',
  LessonsPane,
);
const CATALOGUE = pane(
  'Catalogue',
  'M4 5h11M4 10h6M4 15h5M15.500 11a3.500 3.500 0 1 0 .01 0M18 17l3 3',
  CataloguePane,
);
const BUILDER: GraphiQLPlugin = { ...explorerPlugin(), title: 'Builder' };

const { content: History } = HISTORY_PLUGIN;
// Changes the plugin itself, since GraphiQL notes operations for this very object.
HISTORY_PLUGIN.content = () => (
  <>
    <History />
    <p className="no-history">
      Operations that you run are listed here, the last one first: choose one to have it in the editor again.
    </p>
  </>
);

/** The panes at the left. Those that help with what may not run, or isn't there, are left out. */
export function pluginsFor({ trusted }: Settings): GraphiQLPlugin[] {
  if (!endpoint().isOurs) return [BUILDER, HISTORY_PLUGIN];
  if (trusted === null) return [LESSONS, CATALOGUE, BUILDER, HISTORY_PLUGIN];
  const documents = pane('Documents', 'M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6', () => (
    <DocumentsPane documents={trusted} />
  ));
  return [documents, HISTORY_PLUGIN];
}

function pane(title: string, path: string, Pane: ComponentType): GraphiQLPlugin {
  return {
    title,
    icon: () => (
      <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="1.6" aria-hidden="true">
        <path d={path} strokeLinecap="round" strokeLinejoin="round" />
      </svg>
    ),
    content: () => (
      <LeftPane>
        <div className="graphiql-doc-explorer-title">{title}</div>
        <Pane />
      </LeftPane>
    ),
  };
}

function LeftPane({ children }: { readonly children: ReactNode }) {
  return (
    <div className="pane" ref={useFocusHandedOn()}>
      {children}
    </div>
  );
}
