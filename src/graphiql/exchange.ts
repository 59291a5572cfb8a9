import type { Fetcher } from '@graphiql/toolkit';
import { apiKey } from './api-key.ts';
import { parsedOperation } from './chart/document.ts';
import { withNeededFields } from './chart/needed-fields.ts';
import { isLiveOffered, type LiveStatus, liveStatus } from './live-status.ts';
import type { Operation } from './operation.ts';
import { loadSchema } from './schema.ts';
import { ENDPOINT } from './settings.ts';
import { createStore } from './store.ts';
import { trustedIdOf } from './trusted.ts';

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
  readonly extensions?: {
    readonly upstream?: Upstream;
    readonly explain?: Explained;
    readonly warnings?: readonly { readonly code: string; readonly message: string }[];
  };
}

export interface Exchange {
  readonly operation: Operation;
  readonly answer: Answer;
  /** The same with what pictures need besides: what was sent, and the data that came. */
  readonly drawn: { readonly query: string; readonly data: unknown };
  /** When the answer came, in milliseconds of the epoch. */
  readonly at: number;
}

/** The last operation that somebody ran in the tab that is shown, and its answer. */
export const lastExchange = createStore<Exchange | null>(null);

/** By the tab that it was run in. */
const exchanges = new Map<string, Exchange>();
let shownTab = '';

/** Has `lastExchange` be that of a tab, and forgets those of tabs that are closed. */
export function showTab(id: string, open: readonly string[]): void {
  shownTab = id;
  for (const tab of exchanges.keys()) if (!open.includes(tab)) exchanges.delete(tab);
  lastExchange.set(exchanges.get(id) ?? null);
}

function keep(tab: string, exchange: Exchange): void {
  exchanges.set(tab, exchange);
  if (tab === shownTab) lastExchange.set(exchange);
}

/** What stands in place of an answer where there is none that can be read. */
function noAnswer(code: string, message: string): Answer {
  return { errors: [{ message, extensions: { code } }] };
}

/** Asks the gateway. Where it can't be reached or gives no JSON, the answer is an error that says so. */
export async function send(
  { query, variables, operationName }: Operation,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<Answer> {
  const key = apiKey.get();
  const documentId = trustedIdOf(query);
  const what = documentId === null ? { query } : { documentId };
  const request: RequestInit = {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/graphql-response+json, application/json;q=0.9',
      ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    body: JSON.stringify({ ...what, variables, operationName }),
    ...(signal === undefined ? {} : { signal }),
  };
  let response: Response;
  try {
    response = await fetch(ENDPOINT, request);
  } catch (error) {
    if (signal?.aborted === true) throw error;
    return noAnswer('NOT_REACHED', notReached());
  }
  const text = await response.text().catch(() => '');
  try {
    return JSON.parse(text) as Answer;
  } catch {
    return noAnswer('NOT_GRAPHQL', notGraphql(response.status));
  }
}

function notReached(): string {
  return navigator.onLine
    ? 'The gateway could not be reached. It may be stopped, or something on the way may be in between; try again in a moment.'
    : 'This device is offline. Connect it, and run the operation again.';
}

function notGraphql(status: number): string {
  return `What answered (status ${status}) is no GraphQL: a proxy or a sign-in page may stand between this page and the gateway.`;
}

/** Sends what the editor runs, with the key of the key field unless the headers editor says otherwise. */
export const fetcher: Fetcher = (params, options) => {
  const headers = Object.fromEntries(
    Object.entries((options?.headers ?? {}) as Record<string, string>).map(([name, value]) => [
      name.toLowerCase(),
      String(value),
    ]),
  );
  if (params.operationName === 'IntrospectionQuery') {
    return loadSchema(() => send({ query: params.query }, headers)) as never;
  }
  liveStatus.set(null);
  const { query, variables, operationName } = params;
  const operation = { query, variables: variables ?? undefined, operationName: nameIn(query, operationName) };
  if (isLiveOffered() && isSubscription(operation)) return subscribed(operation, headers) as never;
  return observed((signal) => run(operation, headers, signal)) as never;
};

function isSubscription({ query, operationName }: Operation): boolean {
  try {
    return parsedOperation(query, operationName).operation?.operation === 'subscription';
  } catch {
    return false;
  }
}

/** The events of a subscription as answers, until nobody looks any more. */
function subscribed(operation: Operation, given: Readonly<Record<string, string>>) {
  const tab = shownTab;
  const key = apiKey.get();
  const headers = { ...(key === '' ? {} : { authorization: `Bearer ${key}` }), ...given };
  const documentId = trustedIdOf(operation.query);
  const needed = documentId === null ? withNeededFields(operation.query, operation.operationName) : null;
  const query = needed?.query ?? operation.query;
  let status: LiveStatus = { tab, state: 'waiting', events: 0, at: null, words: '' };
  const tell = (more: Partial<LiveStatus>) => {
    status = { ...status, ...more };
    liveStatus.set(status);
  };

  return {
    subscribe({ next, complete }: Observer) {
      const leaving = new AbortController();
      const { signal } = leaving;
      tell({});
      import('./live.ts').then(({ listen, createFiguresTold }) => {
        if (signal.aborted) return;
        const figuresTold = createFiguresTold({ ...operation, query });
        let data: unknown;
        let last: Answer | undefined;
        const show = (answer: Answer) => {
          keep(tab, { operation, answer, drawn: { query, data }, at: Date.now() });
          next(answer);
        };
        listen({
          sent: { ...operation, ...(documentId === null ? { query } : { documentId }) },
          headers,
          signal,
          onEvent(event) {
            last = event;
            data = figuresTold(event.data);
            const pause = event.extensions?.warnings?.find(({ code }) => code === 'SUBSCRIPTION_PAUSED');
            const state = pause === undefined ? ('told' as const) : ('paused' as const);
            tell({ state, words: pause?.message ?? '', events: status.events + 1, at: Date.now() });
            show({ ...event, data: needed === null ? event.data : needed.asWritten(event.data) });
          },
          onEnd(failure) {
            const errors = failure?.errors ?? last?.errors;
            tell({ state: 'ended', words: errors?.[0]?.message ?? 'The gateway has ended it.' });
            if (failure !== null) show(failure);
            complete();
          },
        });
      });
      return {
        unsubscribe() {
          leaving.abort();
          tell({ state: 'ended', words: 'You have stopped it.' });
        },
      };
    },
  };
}

async function run(
  operation: Operation,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Answer> {
  const tab = shownTab;
  const exchange = await exchanged(operation, headers, signal);
  if (!signal.aborted) keep(tab, { ...exchange, at: Date.now() });
  return exchange.answer;
}

/**
 * Sends an operation with the fields that pictures of its figures need, and takes them out of the answer. Where the whole is
 * refused, which takes no call, it is sent as it was written: it may have been refused for what was added.
 */
async function exchanged(
  operation: Operation,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Omit<Exchange, 'at'>> {
  // Where only operations of a list run, nothing can be added to one.
  const isTrusted = trustedIdOf(operation.query) !== null;
  const needed = isTrusted ? null : withNeededFields(operation.query, operation.operationName);
  if (needed !== null) {
    const answer = await send({ ...operation, query: needed.query }, headers, signal);
    if (answer.data !== undefined) {
      const drawn = { query: needed.query, data: answer.data };
      return { operation, answer: { ...answer, data: needed.asWritten(answer.data) }, drawn };
    }
  }
  const answer = await send(operation, headers, signal);
  return { operation, answer, drawn: { query: operation.query, data: answer.data } };
}

/** Work that is given up when nobody looks any more: GraphiQL would write an answer into whichever tab is shown then. */
function observed(work: (signal: AbortSignal) => Promise<Answer>) {
  return {
    subscribe({ next, error, complete }: Observer) {
      const leaving = new AbortController();
      work(leaving.signal).then(
        (answer) => {
          if (leaving.signal.aborted) return;
          next(answer);
          complete();
        },
        (reason: unknown) => {
          if (!leaving.signal.aborted) error(reason);
        },
      );
      return { unsubscribe: () => leaving.abort() };
    },
  };
}

interface Observer {
  next(answer: Answer): void;
  error(reason: unknown): void;
  complete(): void;
}

/** The name of an operation of this text: just after a change of tabs the editor still names the one of the last tab. */
export function nameIn(query: string, operationName: string | null | undefined): string | undefined {
  if (operationName == null) return undefined;
  return new RegExp(`\\b(query|mutation|subscription)\\s+${operationName}\\b`).test(query)
    ? operationName
    : undefined;
}

/** What to call an operation: its name, or that it has none. */
export function titleOf({ query, operationName }: Operation): string {
  return operationName ?? /^[^#]*?\bquery\s+(\w+)/m.exec(query)?.[1] ?? 'the operation without a name';
}
