import { useGraphiQL } from '@graphiql/react';
import { useEffect } from 'react';

/** Has the page scroll on once an editor is at its end: small screens show nothing beside it to scroll by. */
export function useScrollThrough(): void {
  const editor = useGraphiQL((state) => state.queryEditor);
  const variables = useGraphiQL((state) => state.variableEditor);
  const headers = useGraphiQL((state) => state.headerEditor);
  const response = useGraphiQL((state) => state.responseEditor);
  useEffect(() => {
    for (const one of [editor, variables, headers, response])
      one?.updateOptions({ scrollbar: { alwaysConsumeMouseWheel: false } });
  }, [editor, variables, headers, response]);
}
