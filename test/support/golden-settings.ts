/** What the gateway is started with that the queries of `test/queries` and of the documents are asked of: everything that the graph may have. */
export const WHOLE_GRAPH = { EXTRA_ROUTES: 'policy,trade' } as const;
