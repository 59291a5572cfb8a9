import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { GraphqlError, Program } from '../support/program.ts';

export const ACCEPTS = {
  draft2022: 'multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json;q=0.9',
  v02: 'multipart/mixed;incrementalSpec=v0.2,application/graphql-response+json,application/json;q=0.9',
} as const;

export type Spec = keyof typeof ACCEPTS;

// biome-ignore lint/suspicious/noExplicitAny: parts are of every shape
export type Json = any;

export interface Part {
  readonly atMs: number;
  readonly payload: Json;
}

export interface PartsAsking {
  readonly spec?: Spec;
  /** Header in place of that of the specification. */
  readonly accept?: string;
  readonly key?: string | null;
  readonly operationName?: string;
  readonly variables?: Json;
  readonly onError?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly onPart?: (part: Part, connection: IncomingMessage) => void;
}

/** Sends an operation, and reads the parts of its answer as they come. */
export async function askInParts(
  { url, sandbox }: Pick<Program, 'url' | 'sandbox'>,
  query: string,
  {
    spec = 'v02',
    accept,
    key = sandbox.keys.team,
    operationName,
    variables,
    onError,
    headers = {},
    onPart,
  }: PartsAsking = {},
) {
  const outgoing = request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: accept ?? ACCEPTS[spec],
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
  });
  outgoing.end(JSON.stringify({ query, operationName, variables, onError }));
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const type = response.headers['content-type'] ?? '';
  const parts: Part[] = [];
  let text = '';
  let ended = '';
  const add = (json: string) => {
    const part = { atMs: performance.now(), payload: JSON.parse(json) };
    parts.push(part);
    onPart?.(part, response);
  };
  response.setEncoding('utf8');
  try {
    for await (const chunk of response) {
      text += chunk;
      if (!type.startsWith('multipart/mixed')) continue;
      for (let end = boundaryIn(text); end !== null; end = boundaryIn(text)) {
        const body = text.slice(0, end.at);
        text = text.slice(end.at + end.length);
        ended = end.isLast ? 'whole' : '';
        const json = body.split('\r\n\r\n')[1];
        if (json !== undefined) add(json);
      }
    }
  } catch {
    ended = 'cut';
  }
  if (!type.startsWith('multipart/mixed') && ended === '') add(text);
  return { status: response.statusCode, headers: response.headers, type, parts, ended, whole: merged(parts) };
}

/** The next boundary, with the line break that may follow it. */
function boundaryIn(text: string) {
  const found = /\r\n---(--)?(?:\r\n|$)/.exec(text);
  return (
    found && { at: found.index, length: found[0].length - (found[1] ? 0 : 2), isLast: found[1] === '--' }
  );
}

export interface Whole {
  readonly data: Json;
  readonly errors: readonly GraphqlError[];
  readonly extensions: Json;
}

/** Sum of the parts, by the words of the drafts. */
function merged(parts: readonly Part[]): Whole {
  const root: { data: Json } = { data: undefined };
  const errors: GraphqlError[] = [];
  let extensions: Json;
  const pending = new Map<string, { path: (string | number)[]; next?: number }>();
  for (const { payload } of structuredClone(parts)) {
    if ('data' in payload) root.data = payload.data;
    errors.push(...(payload.errors ?? []));
    extensions = payload.extensions ?? extensions;
    for (const { id, path } of payload.pending ?? []) pending.set(id, { path });
    for (const told of payload.incremental ?? []) {
      errors.push(...(told.errors ?? []));
      if (told.id === undefined) addAt(root, ['data', ...told.path], told);
      else {
        const { path } = pending.get(told.id) ?? { path: [] };
        const at = ['data', ...path, ...(told.subPath ?? [])];
        assignDeep(valueAt(root, at), told.data);
      }
    }
    for (const { id, errors: others = [] } of payload.completed ?? []) {
      if (!pending.delete(id)) throw new Error(`${id} was not pending`);
      errors.push(...others);
    }
  }
  if (pending.size > 0 && parts.at(-1)?.payload.hasNext === false)
    throw new Error('Something is still pending.');
  for (const { extensions } of errors) delete (extensions as Json).requestId;
  return { data: root.data, errors, extensions };
}

function addAt(root: Json, path: (string | number)[], told: Json): void {
  if (told.data !== null) assignDeep(valueAt(root, path), told.data);
}

function valueAt(root: Json, path: readonly (string | number)[]): Json {
  return path.reduce((value, key) => value[key], root);
}

function assignDeep(into: Json, added: Json): void {
  for (const [key, value] of Object.entries(added)) {
    if (into[key] === undefined) into[key] = value;
    else if (typeof value === 'object' && value !== null) assignDeep(into[key], value);
    else throw new Error(`${key} was told twice.`);
  }
}

/** JSON with the members of each object by their names: clients put them together in any order. */
export function canonical(value: Json): string {
  return JSON.stringify(value, (_, member) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
