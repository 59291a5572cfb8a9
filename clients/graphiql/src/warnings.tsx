import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { suggestionList } from 'graphql/jsutils/suggestionList.js';
import type { Warning } from './answer.ts';
import { catalogue, loadCatalogue } from './catalogue/catalogue.ts';
import { lastExchange } from './exchange.ts';
import { mendedQuery, mendedVariables } from './mended.ts';
import { priceWords } from './offline.ts';
import { useStore } from './store.ts';
import { trustedIdOf } from './trusted.ts';
import { Words } from './words.tsx';

/** Names that a button offers in place of one that nothing is known of. */
const MAX_OFFERED = 3;

/** The warnings of the last answer: it is right as far as it goes, and not whole. */
export function Warnings() {
  const exchange = useStore(lastExchange);
  const all = exchange?.answer.extensions?.warnings ?? [];
  if (exchange === null || all.length === 0) return null;
  const mayChange = trustedIdOf(exchange.operation.query) === null;
  return (
    <section className="warnings" aria-label="Warnings">
      <h2>{all.length === 1 ? 'One warning' : `${all.length} warnings`}</h2>
      <ul>
        {all.map((warning, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: warnings have no other name
          <li key={i}>
            <Words text={warning.message} />
            <span className="about">
              <code>{warning.code}</code>{' '}
              {warning.path !== undefined && <code>{warning.path.join('.')}</code>}
            </span>
            {mayChange && <Offers warning={warning} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Buttons that put a name that is known in place of one that isn't. */
function Offers({ warning: { code, name, didYouMean = [] } }: { readonly warning: Warning }) {
  const mend = useMend();
  const loaded = useStore(catalogue);
  if (name === undefined) return null;
  if (didYouMean.length === 0 && code === 'UNKNOWN_INDICATOR' && loaded === null) {
    return (
      <div className="offers">
        <button type="button" onClick={() => void loadCatalogue()}>
          Look for it in the catalogue{priceWords('two calls, cached afterwards')}
        </button>
      </div>
    );
  }
  const alike = code === 'UNKNOWN_COUNTRY' ? loaded?.countries : loaded?.indicators;
  const names = (alike ?? []).map((one) => ('code' in one ? one.code : one.key));
  const offered = didYouMean.length > 0 ? didYouMean : suggestionList(name, names);
  if (offered.length === 0)
    return loaded === null ? null : <p>The catalogue has nothing that is spelt alike.</p>;
  return (
    <div className="offers">
      {offered.slice(0, MAX_OFFERED).map((better) => (
        <button key={better} type="button" onClick={() => mend(name, better)}>
          Use {better} and run
        </button>
      ))}
    </div>
  );
}

function useMend(): (name: string, better: string) => void {
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  const { run } = useGraphiQLActions();
  return (name, better) => {
    for (const [editor, mended] of [
      [queryEditor, mendedQuery],
      [variableEditor, mendedVariables],
    ] as const) {
      const model = editor?.getModel();
      if (editor === undefined || model == null) continue;
      const text = mended(editor.getValue(), name, better);
      if (text === editor.getValue()) continue;
      editor.pushUndoStop();
      editor.executeEdits('mend', [{ range: model.getFullModelRange(), text }]);
      editor.pushUndoStop();
    }
    void run();
  };
}
