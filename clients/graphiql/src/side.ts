/**
 * A view of an operation at the right; `query` is the operation itself, for a page without room for two
 * sides.
 */
export type Side = 'query' | 'answer' | 'picture' | 'cost' | 'errors';
