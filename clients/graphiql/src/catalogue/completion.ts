import { useGraphiQL, useMonaco } from '@graphiql/react';
import { useEffect } from 'react';
import { priceWords } from '../offline.ts';
import { catalogue, exchangeCodes, loadCatalogue, loadExchanges } from './catalogue.ts';
import { type Literal, literalAt, type Named, variableAt } from './literals.ts';
import { searched } from './search.ts';

type Monaco = NonNullable<Parameters<Parameters<typeof useMonaco>[0]>[0]['monaco']>;
type Model = Parameters<
  Parameters<Monaco['languages']['registerCompletionItemProvider']>[1]['provideCompletionItems']
>[0];
type Position = Parameters<
  Parameters<Monaco['languages']['registerCompletionItemProvider']>[1]['provideCompletionItems']
>[1];

interface Entry {
  readonly name: string;
  /** The words that people look for: the name of a thing as often as its key. */
  readonly terms: string;
  readonly about: string;
}

const COMMAND = 'country-graph-load';

/**
 * Completes keys and codes inside the strings of operations and their variables, from the catalogue once it
 * is open. Before that, completion offers to open it and tells the cost: nothing is asked for unasked.
 */
export function useCompletion(): void {
  const monaco = useMonaco((state) => state.monaco);
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  useEffect(() => {
    if (monaco === undefined || queryEditor === undefined || variableEditor === undefined) return;
    for (const editor of [queryEditor, variableEditor]) {
      editor.updateOptions({ quickSuggestions: { other: true, comments: false, strings: true } });
    }
    const inQuery = provide(monaco, 'graphql', (model, position) =>
      model === queryEditor.getModel() ? literalAt(textBefore(model, position)) : null,
    );
    const inVariables = provide(monaco, 'json', (model, position) =>
      model === variableEditor.getModel()
        ? variableAt(textBefore(model, position), queryEditor.getValue())
        : null,
    );
    const command = monaco.editor.registerCommand(COMMAND, (_, named: Named) => {
      void load(named).then(() => {
        // Opens the list again: it has come now.
        const editor = [queryEditor, variableEditor].find((one) => one.hasTextFocus());
        editor?.trigger(COMMAND, 'editor.action.triggerSuggest', {});
      });
    });
    return () => {
      for (const disposable of [inQuery, inVariables, command]) disposable.dispose();
    };
  }, [monaco, queryEditor, variableEditor]);
}

function provide(
  monaco: Monaco,
  language: string,
  literalIn: (model: Model, position: Position) => Literal | null,
) {
  return monaco.languages.registerCompletionItemProvider(language, {
    triggerCharacters: ['"'],
    provideCompletionItems(model, position) {
      const literal = literalIn(model, position);
      if (literal === null) return { suggestions: [] };
      const rest =
        /^[^"\n]*/.exec(model.getLineContent(position.lineNumber).slice(position.column - 1))?.[0] ?? '';
      const range = {
        startLineNumber: position.lineNumber,
        endLineNumber: position.lineNumber,
        startColumn: position.column - literal.before.length,
        endColumn: position.column + rest.length,
      };
      const entries = entriesFor(literal.named);
      const { Value, Event } = monaco.languages.CompletionItemKind;
      if (entries === null) {
        const label = `Load ${PLURALS[literal.named]} to complete them${priceWords(COSTS[literal.named])}`;
        const insertText = literal.before + rest;
        const filterText = insertText;
        const command = { id: COMMAND, title: label, arguments: [literal.named] };
        return { suggestions: [{ label, kind: Event, insertText, filterText, range, command }] };
      }
      // The editor would find letters that stand apart: it takes these as they come, and asks again at each letter.
      return {
        incomplete: true,
        suggestions: searched(entries, literal.before, (entry) => ({ ...entry, name: entry.terms })).map(
          ({ name, about }, i) => ({
            label: { label: name, description: about },
            kind: Value,
            insertText: name,
            filterText: literal.before,
            sortText: String(i).padStart(5, '0'),
            range,
          }),
        ),
      };
    },
  });
}

const PLURALS: Readonly<Record<Named, string>> = {
  indicator: 'the indicators',
  country: 'the countries',
  source: 'the sources',
  category: 'the categories',
  exchange: 'the exchanges',
};

const COSTS: Readonly<Record<Named, string>> = {
  indicator: 'two calls, cached afterwards',
  country: 'two calls, cached afterwards',
  source: 'two calls, cached afterwards',
  category: 'two calls, cached afterwards',
  exchange: 'a call for every few hundred listings',
};

async function load(named: Named): Promise<void> {
  await (named === 'exchange' ? loadExchanges() : loadCatalogue());
}

function textBefore(model: Model, { lineNumber, column }: Position): string {
  return model.getValueInRange({
    startLineNumber: 1,
    startColumn: 1,
    endLineNumber: lineNumber,
    endColumn: column,
  });
}

/** All names of a kind; null if they haven't been asked for. */
function entriesFor(named: Named): readonly Entry[] | null {
  if (named === 'exchange') {
    return exchangeCodes.get()?.items.map((name) => ({ name, terms: name, about: 'exchange' })) ?? null;
  }
  const loaded = catalogue.get();
  if (loaded === null || (loaded.error !== null && loaded.indicators.length === 0)) return null;
  if (named === 'indicator') {
    return loaded.indicators.map(({ key, name, unit }) => ({
      name: key,
      terms: `${key} ${name ?? ''}`,
      about: `${name ?? ''}, ${unit ?? ''}`,
    }));
  }
  if (named === 'country')
    return loaded.countries.map(({ code, name }) => ({
      name: code,
      terms: `${code} ${name ?? ''}`,
      about: name ?? '',
    }));
  const names =
    named === 'category'
      ? loaded.indicators.flatMap(({ category }) => category ?? [])
      : loaded.indicators.flatMap(({ sources }) => (sources ?? []).map(({ key }) => key));
  return [...new Set(names)].sort().map((name) => ({ name, terms: name, about: named }));
}
