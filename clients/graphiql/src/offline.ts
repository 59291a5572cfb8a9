import type { Answer } from './answer.ts';
import { createStore } from './store.ts';

/** True if the gateway answers from what is cached alone: nothing that is asked of it takes a call. */
export const isOffline = createStore(false);

/** Learns from an answer if the gateway is offline, unless the headers have asked for that. */
export function noteOffline(headers: Readonly<Record<string, string>>, { extensions }: Answer): void {
  if (extensions?.upstream === undefined || 'x-offline' in headers) return;
  isOffline.set(extensions.freshness?.offline === true);
}

/** Words a price behind what takes calls; offline, nothing does. */
export const priceWords = (words: string): string => (isOffline.get() ? '' : ` (${words})`);
