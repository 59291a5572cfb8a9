import { useGraphiQL } from '@graphiql/react';
import { useCallback } from 'react';
import { countryEdit } from '../chart/country-edit.ts';
import { picturesIn } from '../chart/drawable.ts';
import { countriesOf } from '../chart/subjects.ts';
import { lastExchange } from '../exchange.ts';
import { pick, pickedHere } from '../picked.ts';
import { useMakeRoom, useOpen } from '../tools.ts';
import { trustedIdOf } from '../trusted.ts';
import { side } from '../view.ts';
import { figureInsertion, figureOperation, type Insertion, literalInsertion } from './insertion.ts';
import { literalAt, type Named } from './literals.ts';

type Editor = NonNullable<ReturnType<typeof useQueryEditor>>;

const useQueryEditor = () => useGraphiQL((state) => state.queryEditor);

/**
 * Puts a figure of an indicator into the operation: its key into the string that the cursor stands in, if
 * that takes one; otherwise a field into the selection of a country; otherwise an operation in a tab of its own.
 */
export function useInsertFigure(): (key: string) => void {
  const editor = useQueryEditor();
  const schema = useGraphiQL((state) => state.schema);
  const open = useOpen();
  const makeRoom = useMakeRoom();
  return useCallback(
    (key) => {
      if (editor === undefined || schema == null) return;
      const query = editor.getValue();
      const offset = offsetIn(editor);
      const insertion =
        intoLiteral(query, offset, 'indicator', key) ?? figureInsertion(query, offset, key, schema);
      if (insertion === null) open({ query: figureOperation(key) });
      else {
        write(editor, insertion);
        makeRoom();
      }
    },
    [editor, schema, open, makeRoom],
  );
}

/**
 * Puts a code into the string that the cursor stands in, if that takes one. Otherwise ticks a country beside the picture that is
 * there, or opens an operation that asks about the name.
 */
export function useInsertName(): (named: 'country' | 'exchange', name: string) => void {
  const editor = useQueryEditor();
  const open = useOpen();
  const makeRoom = useMakeRoom();
  return useCallback(
    async (named, name) => {
      if (editor === undefined) return;
      const insertion = intoLiteral(editor.getValue(), offsetIn(editor), named, name);
      if (insertion !== null) {
        write(editor, insertion);
        makeRoom();
      } else if (named === 'country' && (await canPick(name))) {
        const { codes } = pickedHere();
        makeRoom();
        pick({ isOpen: true, codes: [...new Set([...codes, name])] });
        side.set('picture');
      } else open({ query: OPERATIONS[named](name) });
    },
    [editor, open, makeRoom],
  );
}

/** True if the answer that is shown may be had for a country, or has it in a picture beside others. */
async function canPick(code: string): Promise<boolean> {
  const exchange = lastExchange.get();
  if (exchange === null) return false;
  const { query, variables = {}, operationName } = exchange.operation;
  return (
    (trustedIdOf(query) === null && countryEdit(query, JSON.stringify(variables), operationName) !== null) ||
    countriesOf(await picturesIn(exchange)).includes(code)
  );
}

const OPERATIONS = {
  country: (code: string) => `query Country${code} {
  country(code: ${JSON.stringify(code)}) {
    name
    capital
    region
  }
}
`,
  exchange: (code: string) => `query Listings {
  tickers(exchangeCode: ${JSON.stringify(code)}) {
    symbol
    name
    closePrice
    session
  }
}
`,
};

function intoLiteral(query: string, offset: number, named: Named, name: string): Insertion | null {
  const literal = literalAt(query.slice(0, offset));
  return literal?.named === named ? literalInsertion(query, offset, literal.before, name) : null;
}

function offsetIn(editor: Editor): number {
  const position = editor.getPosition();
  return position === null ? 0 : (editor.getModel()?.getOffsetAt(position) ?? 0);
}

/** Writes so that it can be undone. */
function write(editor: Editor, { start, end, text }: Insertion): void {
  const model = editor.getModel();
  if (model === null) return;
  const [from, to] = [model.getPositionAt(start), model.getPositionAt(end)];
  const range = {
    startLineNumber: from.lineNumber,
    startColumn: from.column,
    endLineNumber: to.lineNumber,
    endColumn: to.column,
  };
  editor.pushUndoStop();
  editor.executeEdits('catalogue', [{ range, text }]);
  editor.pushUndoStop();
}
