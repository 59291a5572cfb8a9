/** Settings for the queries of `test/queries` and of the documentation: all optional parts of the schema. */
export const WHOLE_GRAPH = { EXTRA_ROUTES: 'policy,trade', JOURNAL_FILE: ':memory:' } as const;
