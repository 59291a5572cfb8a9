import type { Answer } from './answer.ts';
import { apiKey } from './api-key.ts';
import { createStore } from './store.ts';

/** The words of the service when it refused the key; null while it hasn't. */
export const refusal = createStore<string | null>(null);

const CODES: ReadonlySet<unknown> = new Set(['UNAUTHENTICATED', 'FORBIDDEN']);

/** Keeps in mind whether the service takes the key: only an answer that took calls tells that it does. */
export function noteRefusal(key: string | null, { errors = [], extensions }: Answer): void {
  if (key !== apiKey.get()) return;
  const refused = errors.find(({ extensions }) => extensions?.code === 'UNAUTHENTICATED');
  const isTaken =
    (extensions?.upstream?.calls ?? 0) > 0 && !errors.some((one) => CODES.has(one.extensions?.code));
  if (refused !== undefined) refusal.set(refused.message);
  else if (isTaken) refusal.set(null);
}

apiKey.subscribe(() => refusal.set(null));
