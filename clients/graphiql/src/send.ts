import { type Answer, type Arrival, cutOff, isLong, noAnswer } from './answer.ts';
import { apiKey } from './api-key.ts';
import { endpoint } from './endpoint.ts';
import { noteOffline } from './offline.ts';
import type { Operation } from './operation.ts';
import { noteRefusal } from './refusal.ts';
import { trustedIdOf } from './trusted.ts';
import { nextTurn } from './turns.ts';

type Headers = Readonly<Record<string, string>>;

const WHOLE = 'application/graphql-response+json, application/json;q=0.9';
const IN_PARTS = `multipart/mixed;deferSpec=20220824, ${WHOLE}`;

/** Asks the gateway. If it can't be reached or gives no JSON, the answer is an error that says so. */
export async function send(
  operation: Operation,
  headers: Headers = {},
  signal?: AbortSignal,
): Promise<Answer> {
  const key = keyOf(headers);
  const response = await responseTo(operation, WHOLE, headers, signal);
  const { answer } = await read(response);
  note(key, headers, answer);
  return answer;
}

/**
 * The same, as a series of the answer so far each time more of it has come: once, if the operation defers
 * nothing.
 */
export async function* sendInParts(
  operation: Operation,
  headers: Headers,
  signal: AbortSignal,
): AsyncGenerator<Arrival> {
  const key = keyOf(headers);
  const response = await (sentAhead(operation, headers) ?? responseTo(operation, IN_PARTS, headers, signal));
  if (response !== null && /^multipart\/mixed/i.test(response.headers.get('content-type') ?? '')) {
    const { arrivalsIn } = await import('./parts.ts');
    for await (const arrival of arrivalsIn(response, signal)) {
      if (arrival.isLast) note(key, headers, arrival.answer);
      yield arrival;
    }
  } else {
    const { answer, length } = await read(response);
    note(key, headers, answer);
    yield { answer, parts: 1, isLast: true, length };
  }
}

function note(key: string | null, headers: Headers, answer: Answer): void {
  noteRefusal(key, answer);
  noteOffline(headers, answer);
}

/** The key of the key field; null if the headers have another. */
const keyOf = (headers: Headers) => ('authorization' in headers ? null : apiKey.get());

/** An operation that was sent before the page could show its answer: by its text and its key. */
let early: {
  readonly query: string;
  readonly key: string;
  readonly response: Promise<Response | null>;
} | null = null;

/**
 * Sends an operation whose answer is asked for later, by the same text and key.
 * @returns its answer, for somebody else to read
 */
export async function sendEarly(query: string): Promise<Answer> {
  const response = responseTo({ query }, IN_PARTS, {});
  early = { query, key: apiKey.get(), response: response.then((answer) => answer?.clone() ?? null) };
  return (await read(await response)).answer;
}

/** Returns, once, the response to an operation that is on its way already; undefined if there is none. */
function sentAhead(
  { query, variables = {} }: Operation,
  headers: Headers,
): Promise<Response | null> | undefined {
  const isSame = early?.query === query && early.key === apiKey.get();
  if (!isSame || Object.keys({ ...variables, ...headers }).length > 0) return undefined;
  const response = early?.response;
  early = null;
  return response;
}

/** Null if nothing answers. */
async function responseTo(
  { query, variables, operationName }: Operation,
  accept: string,
  headers: Headers,
  signal?: AbortSignal,
): Promise<Response | null> {
  const key = apiKey.get();
  const documentId = trustedIdOf(query);
  const what = documentId === null ? { query } : { documentId };
  const request: RequestInit = {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept,
      ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    body: JSON.stringify({ ...what, variables, operationName }),
    ...(signal === undefined ? {} : { signal }),
  };
  try {
    return await fetch(endpoint().url, request);
  } catch (error) {
    if (signal?.aborted === true) throw error;
    return null;
  }
}

async function read(
  response: Response | null,
): Promise<{ readonly answer: Answer; readonly length: number }> {
  if (response === null) return { answer: notReached(), length: 0 };
  const text = await response.text().catch(() => null);
  if (text === null) return { answer: cutOff(), length: 0 };
  const { length } = text;
  if (isLong(length)) await nextTurn();
  try {
    return { answer: JSON.parse(text) as Answer, length };
  } catch {
    if (/[/+]json\b/i.test(response.headers.get('content-type') ?? '')) return { answer: cutOff(), length };
    const words = `What answered (status ${response.status}) is no GraphQL: a proxy or a sign-in page may stand between this page and the gateway.`;
    return { answer: noAnswer('NOT_GRAPHQL', words), length };
  }
}

function notReached(): Answer {
  return noAnswer(
    'NOT_REACHED',
    navigator.onLine
      ? 'The gateway could not be reached. It may be stopped, or something on the way may be in between; try again in a moment.'
      : 'This device is offline. Connect it, and run the operation again.',
  );
}
