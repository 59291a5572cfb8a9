import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { Kind, parse } from 'graphql';
import { useEffect, useRef } from 'react';
import { createStandIn } from './stand-in.ts';

const NAMES = ['queryEditor', 'variableEditor', 'headerEditor', 'responseEditor'] as const;

type StandIns = Readonly<Record<(typeof NAMES)[number], ReturnType<typeof createStandIn>>>;

/** Gives GraphiQL stand-ins for its editors, and each editor the text of its stand-in once it has come. */
export function useStandIns(): void {
  const { setEditor, updateActiveTabValues, setOperationFacts } = useGraphiQLActions();
  const first = useGraphiQL(({ tabs, activeTabIndex }) => tabs[activeTabIndex]);
  const editors = useGraphiQL(({ queryEditor, variableEditor, headerEditor, responseEditor }) => ({
    queryEditor,
    variableEditor,
    headerEditor,
    responseEditor,
  }));
  const { queryEditor, variableEditor, headerEditor, responseEditor } = editors;
  const standIns = useRef<StandIns | null>(null);
  if (standIns.current === null) {
    const nothing = () => {};
    const note = (query: string) => {
      const facts = factsOf(query);
      setOperationFacts(facts);
      updateActiveTabValues({ query, operationName: facts.operationName ?? null });
    };
    standIns.current = {
      queryEditor: createStandIn(first?.query ?? '', note),
      variableEditor: createStandIn(first?.variables ?? '', nothing),
      headerEditor: createStandIn(first?.headers ?? '', nothing),
      responseEditor: createStandIn(first?.response ?? '', nothing),
    };
  }
  useEffect(() => {
    if (standIns.current === null) return;
    setEditor(standIns.current as never);
    setOperationFacts(factsOf(standIns.current.queryEditor.getValue()));
  }, [setEditor, setOperationFacts]);
  useEffect(() => {
    const come = { queryEditor, variableEditor, headerEditor, responseEditor };
    for (const name of NAMES) standIns.current?.[name].handOver(come[name]);
  }, [queryEditor, variableEditor, headerEditor, responseEditor]);
}

type Facts = Parameters<ReturnType<typeof useGraphiQLActions>['setOperationFacts']>[0];

/** The operations of a text, as the editor would tell them to GraphiQL. */
function factsOf(query: string): Facts {
  try {
    const documentAST = parse(query);
    const operations = documentAST.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
    const operationName = operations[0]?.name?.value;
    return { documentAST, operations, ...(operationName !== undefined && { operationName }) };
  } catch {
    return {};
  }
}
