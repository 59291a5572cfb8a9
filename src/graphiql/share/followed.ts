import { createStore } from '../store.ts';

/** The text of the operation that the last link brought; null where none did. */
export const followed = createStore<string | null>(null);
