/**
 * Settings of a gateway for the queries of `test/queries` and of the documents: all parts that the graph may
 * have.
 */
export const WHOLE_GRAPH = { EXTRA_ROUTES: 'policy,trade' } as const;
