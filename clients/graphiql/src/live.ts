import { createClient, NetworkError } from 'graphql-sse';
import { type Answer, noAnswer } from './answer.ts';
import { parsedOperation, responseKey } from './chart/document.ts';
import { endpoint } from './endpoint.ts';
import type { Operation } from './operation.ts';

/*
 * Subscriptions, over server-sent events. Loaded with the first one that is run.
 */

export interface Listening {
  /** The operation as sent: its text, or the identifier of a trusted one. */
  readonly sent: Omit<Operation, 'query'> & ({ readonly query: string } | { readonly documentId: string });
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly onEvent: (answer: Answer) => void;
  /** @param answer errors in words, if it did not end as it should */
  readonly onEnd: (answer: Answer | null) => void;
}

export function listen({ sent, headers, signal, onEvent, onEnd }: Listening): void {
  const client = createClient({
    url: `${endpoint().url}/stream`,
    headers: { ...headers },
    // Tries no more by itself: changes since then would be missing from the picture.
    retryAttempts: 0,
  });
  const end = (answer: Answer | null) => {
    client.dispose();
    if (!signal.aborted) onEnd(answer);
  };
  const stop = client.subscribe<Answer['data'] & Record<string, unknown>>(sent as never, {
    next: (result) => {
      if (!signal.aborted) onEvent(result as Answer);
    },
    error: (error) => void answerOf(error).then(end),
    complete: () => end(null),
  });
  signal.addEventListener('abort', () => {
    stop();
    client.dispose();
  });
}

/** The error, as the gateway says it, or as it looks from here. */
async function answerOf(error: unknown): Promise<Answer> {
  if (Array.isArray(error)) return { errors: error };
  if (error instanceof NetworkError && error.response !== undefined) {
    const body: unknown = await (error.response as Response).json().catch(() => null);
    if (typeof body === 'object' && body !== null && 'errors' in body) return body as Answer;
  }
  const message = navigator.onLine
    ? 'The connection to the gateway was lost, or none could be made. Run the subscription again to go on.'
    : 'This device is offline. Connect it, and run the subscription again.';
  return noAnswer('NOT_REACHED', message);
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Adds up all that was told so far: data for pictures, in the shape of an event that adds all of it. An event
 * that tells of no figures is passed on as it is.
 */
export function createFiguresSeen({ query, operationName }: Operation): (data: unknown) => unknown {
  const keys = keysIn(query, operationName);
  if (keys === null) return (data) => data;
  const { root, changes, observation } = keys;
  const seen = new Map<string, Fields>();
  return (data) => {
    const event = fieldOf(data, root);
    if (fieldOf(event, 'isWhole') === true) seen.clear();
    const list = fieldOf(event, changes);
    for (const change of Array.isArray(list) ? list : []) {
      const id = fieldOf(fieldOf(change, observation), 'id');
      const former = fieldOf(change, 'formerId');
      if (typeof former === 'string') seen.delete(former);
      if (typeof id !== 'string') continue;
      if (fieldOf(change, 'kind') === 'REMOVED') seen.delete(id);
      else seen.set(id, change as Fields);
    }
    return { [root]: { [changes]: [...seen.values()] } };
  };
}

/** Response keys of the fields on the way to figures; null if the operation has no such way. */
function keysIn(query: string, operationName: string | undefined) {
  try {
    const { operation, fieldsOf } = parsedOperation(query, operationName);
    const root = operation && fieldsOf(operation.selectionSet)[0];
    if (root?.name.value !== 'observationsChanged' || root.selectionSet === undefined) return null;
    const changes = fieldsOf(root.selectionSet).find(({ name }) => name.value === 'changes');
    const inner = changes?.selectionSet && fieldsOf(changes.selectionSet);
    const observation = inner?.find(({ name }) => name.value === 'observation');
    if (changes === undefined || observation === undefined) return null;
    return { root: responseKey(root), changes: responseKey(changes), observation: responseKey(observation) };
  } catch {
    return null;
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Fields)[name] : undefined;
}
