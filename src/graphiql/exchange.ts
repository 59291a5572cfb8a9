import type { Fetcher } from '@graphiql/toolkit';
import { apiKey } from './api-key.ts';
import { withNeededFields } from './chart/needed-fields.ts';
import { ENDPOINT } from './settings.ts';
import { createStore } from './store.ts';

export interface GraphError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: Readonly<Record<string, unknown>> & { readonly code?: string };
}

/** What an operation cost, as `extensions.upstream` tells it. */
export interface Upstream {
  readonly calls: number;
  readonly byRoute: Readonly<Record<string, number>>;
  readonly shared: number;
  readonly cached: number;
  readonly naive: number;
  readonly stale?: readonly {
    readonly route: string;
    readonly code: string;
    readonly answers: number;
    readonly ageSeconds: number;
    readonly retryAt?: string;
  }[];
}

/** What an operation would cost, as `extensions.explain` tells it. */
export interface Explained {
  readonly calls: number;
  readonly least: number;
  readonly most: number;
  readonly byRoute: Readonly<Record<string, number>>;
  readonly cached: number;
  readonly naive: number;
  readonly limit: number;
  readonly plan: readonly { readonly route: string; readonly target: string; readonly cached: boolean }[];
}

export interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly GraphError[];
  readonly extensions?: { readonly upstream?: Upstream; readonly explain?: Explained };
}

export interface Operation {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  readonly operationName?: string | undefined;
}

export interface Exchange {
  readonly operation: Operation;
  readonly answer: Answer;
  /** The same with what pictures need besides: what was sent, and the data that came. */
  readonly drawn: { readonly query: string; readonly data: unknown };
}

/** The last operation that somebody ran, and its answer. */
export const lastExchange = createStore<Exchange | null>(null);

export async function send(
  operation: Operation,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const key = apiKey.get();
  const response = await fetch(ENDPOINT, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/graphql-response+json, application/json;q=0.9',
      ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    body: JSON.stringify(operation),
  });
  return (await response.json()) as Answer;
}

/** Sends what the editor runs, with the key of the key field unless the headers editor says otherwise. */
export const fetcher: Fetcher = async ({ query, variables, operationName }, options) => {
  const headers = Object.fromEntries(
    Object.entries((options?.headers ?? {}) as Record<string, string>).map(([name, value]) => [
      name.toLowerCase(),
      String(value),
    ]),
  );
  const operation: Operation = {
    query,
    variables: variables ?? undefined,
    operationName: nameIn(query, operationName),
  };
  const exchange = await exchanged(operation, headers);
  if (operationName !== 'IntrospectionQuery') lastExchange.set(exchange);
  return exchange.answer as never;
};

/**
 * Sends an operation with the fields that pictures of its figures need, and takes them out of the answer. Where the whole is
 * refused, which takes no call, it is sent as it was written: it may have been refused for what was added.
 */
async function exchanged(operation: Operation, headers: Readonly<Record<string, string>>): Promise<Exchange> {
  const needed = withNeededFields(operation.query, operation.operationName);
  if (needed !== null) {
    const answer = await send({ ...operation, query: needed.query }, headers);
    if (answer.data !== undefined) {
      const drawn = { query: needed.query, data: answer.data };
      return { operation, answer: { ...answer, data: needed.asWritten(answer.data) }, drawn };
    }
  }
  const answer = await send(operation, headers);
  return { operation, answer, drawn: { query: operation.query, data: answer.data } };
}

/** The name of an operation of this text: just after a change of tabs the editor still names the one of the last tab. */
export function nameIn(query: string, operationName: string | null | undefined): string | undefined {
  if (operationName == null) return undefined;
  return new RegExp(`\\b(query|mutation|subscription)\\s+${operationName}\\b`).test(query)
    ? operationName
    : undefined;
}
