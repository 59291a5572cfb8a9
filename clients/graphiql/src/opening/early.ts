import { createStore } from '../store.ts';

/** The question that somebody has asked before the page was whole; null once the page has taken it over. */
export const early = createStore<{
  readonly query: string;
  /** Resolves once its picture stands, or is known not to. */
  readonly drawn: Promise<void>;
} | null>(null);
