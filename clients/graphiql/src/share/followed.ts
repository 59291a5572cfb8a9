import { createStore } from '../store.ts';
import type { Seen } from './seen-text.ts';

/** The text of the operation that the last link brought; null if none did. */
export const followed = createStore<string | null>(null);

/** The view that a link asks for, until its tab is there. */
export const toSee = createStore<{ readonly query: string; readonly seen: Seen } | null>(null);
