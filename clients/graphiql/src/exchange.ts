import type { Fetcher } from '@graphiql/toolkit';
import { type Answer, type Arrival, isLong } from './answer.ts';
import { apiKey } from './api-key.ts';
import { operationTypeIn } from './chart/document.ts';
import { withNeededFields } from './chart/needed-fields.ts';
import { endpoint } from './endpoint.ts';
import { isLiveOffered, type LiveStatus, liveStatus } from './live-status.ts';
import { shownOf } from './long-answer.tsx';
import type { Operation } from './operation.ts';
import { loadSchema } from './schema.ts';
import { send, sendInParts } from './send.ts';
import { createStore } from './store.ts';
import { forgetAnswer, storeAnswer, storedAnswer } from './tab-answers.ts';
import { trustedIdOf } from './trusted.ts';
import { nextTurn } from './turns.ts';
import { editorWanted } from './wanted.ts';

export interface Exchange {
  readonly operation: Operation;
  readonly answer: Answer;
  /** The same with the fields that pictures need besides: the operation as sent, and the data as it came. */
  readonly drawn: { readonly query: string; readonly data: unknown };
  /** Time at which the answer, or the part of it that is there, came, in milliseconds of the epoch. */
  readonly at: number;
  /** State of the parts of an answer that isn't whole; null once it is. */
  readonly partly: { readonly parts: number; readonly isStopped: boolean } | null;
  /** Characters of the answer as it came; null if it came in parts. */
  readonly length: number | null;
  /** The last run before this one that went well; null if there was none. */
  readonly before: Exchange | null;
}

/** The last operation that somebody ran in the tab that is shown, and its answer. */
export const lastExchange = createStore<Exchange | null>(null);

/** Exchanges by the tab that they were run in. */
const exchanges = new Map<string, Exchange>();

export const shownTab = createStore('');

/** Has `lastExchange` be that of a tab, and forgets those of tabs that are closed. */
export function showTab(id: string, open: readonly string[]): void {
  shownTab.set(id);
  for (const tab of exchanges.keys()) {
    if (open.includes(tab)) continue;
    exchanges.delete(tab);
    forgetAnswer(tab);
  }
  const exchange = exchanges.get(id) ?? storedAnswer(id);
  if (exchange !== null) exchanges.set(id, exchange);
  lastExchange.set(exchange);
}

function keep(tab: string, exchange: Exchange): void {
  exchanges.set(tab, exchange);
  storeAnswer(tab, exchange);
  if (tab === shownTab.get()) lastExchange.set(exchange);
}

/** The last run of a tab that went well: if the next one fails, its picture stays. */
function goodRunOf(tab: string): Exchange | null {
  const last = exchanges.get(tab) ?? null;
  if (last === null) return null;
  const { before, ...rest } = last;
  return (last.answer.errors ?? []).length > 0 && before !== null ? before : { ...rest, before: null };
}

/**
 * Sends the operation that the editor runs, with the key of the key field unless the headers editor says
 * otherwise.
 */
export const fetcher: Fetcher = (params, options) => {
  const headers = Object.fromEntries(
    Object.entries((options?.headers ?? {}) as Record<string, string>).map(([name, value]) => [
      name.toLowerCase(),
      String(value),
    ]),
  );
  if (params.operationName === 'IntrospectionQuery') {
    return editorWanted.then(() => loadSchema(() => send({ query: params.query }, headers))) as never;
  }
  liveStatus.set(null);
  const { query, variables, operationName } = params;
  const operation = { query, variables: variables ?? undefined, operationName: nameIn(query, operationName) };
  if (isLiveOffered() && operationTypeIn(query, operation.operationName) === 'subscription')
    return subscribed(operation, headers) as never;
  return observed((signal, next) => run(operation, headers, signal, next)) as never;
};

/** The events of a subscription as answers, until nobody looks any more. */
function subscribed(operation: Operation, given: Readonly<Record<string, string>>) {
  const tab = shownTab.get();
  const key = apiKey.get();
  const headers = { ...(key === '' ? {} : { authorization: `Bearer ${key}` }), ...given };
  const documentId = trustedIdOf(operation.query);
  const needed = neededFor(operation);
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
      import('./live.ts').then(({ listen, createFiguresSeen }) => {
        if (signal.aborted) return;
        const figuresSeen = createFiguresSeen({ ...operation, query });
        let data: unknown;
        let last: Answer | undefined;
        const show = (answer: Answer) => {
          keep(tab, {
            operation,
            answer,
            drawn: { query, data },
            at: Date.now(),
            partly: null,
            length: null,
            before: null,
          });
          next(answer);
        };
        listen({
          sent: { ...operation, ...(documentId === null ? { query } : { documentId }) },
          headers,
          signal,
          onEvent(event) {
            last = event;
            data = figuresSeen(event.data);
            const pause = event.extensions?.warnings?.find(({ code }) => code === 'SUBSCRIPTION_PAUSED');
            const state = pause === undefined ? ('current' as const) : ('paused' as const);
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

/** Time for which parts are gathered before they are shown: an answer may come in a thousand. */
const GATHERED_MS = 50;

async function run(
  operation: Operation,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
  next: (answer: Answer) => void,
): Promise<void> {
  const tab = shownTab.get();
  const before = goodRunOf(tab);
  let shown: Exchange | null = null;
  let gathered: Arrived | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = () => {
    timer = undefined;
    if (gathered === null) return;
    const { exchange, parts, isLast, length } = gathered;
    shown = {
      ...exchange,
      length,
      before,
      at: Date.now(),
      partly: isLast ? null : { parts, isStopped: false },
    };
    gathered = null;
    keep(tab, shown);
    next(shownOf(exchange.answer, length));
  };
  const onAbort = () => {
    clearTimeout(timer);
    if (shown?.partly) keep(tab, { ...shown, partly: { ...shown.partly, isStopped: true } });
  };
  signal.addEventListener('abort', onAbort);
  for await (const arrived of arrivalsOf(operation, headers, signal)) {
    if (signal.aborted) return;
    gathered = arrived;
    timer ??= setTimeout(show, GATHERED_MS);
  }
  clearTimeout(timer);
  show();
}

/** Adds nothing if only operations of a list run, or the schema is another. */
const neededFor = ({ query, operationName }: Operation) =>
  trustedIdOf(query) === null && endpoint().isOurs ? withNeededFields(query, operationName) : null;

type Arrived = Omit<Arrival, 'answer'> & {
  readonly exchange: Pick<Exchange, 'operation' | 'answer' | 'drawn'>;
};

/**
 * Sends an operation with the fields that pictures of its figures need, and takes them out of the answer. If
 * the whole is refused for good, which takes no call, it is sent as it was written: it may have been refused
 * for the added fields.
 */
async function* arrivalsOf(
  operation: Operation,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): AsyncGenerator<Arrived> {
  const needed = neededFor(operation);
  if (needed !== null) {
    let isRefused = false;
    for await (const arrival of sendInParts({ ...operation, query: needed.query }, headers, signal)) {
      const { answer } = arrival;
      isRefused =
        answer.data === undefined && !answer.errors?.some(({ extensions }) => extensions?.retryable);
      if (isRefused) break;
      const drawn = { query: needed.query, data: answer.data };
      if (isLong(arrival.length)) await nextTurn();
      const written = { ...answer, data: needed.asWritten(answer.data) };
      if (isLong(arrival.length)) await nextTurn();
      yield { ...arrival, exchange: { operation, answer: written, drawn } };
    }
    if (!isRefused) return;
  }
  for await (const arrival of sendInParts(operation, headers, signal)) {
    const { answer } = arrival;
    yield {
      ...arrival,
      exchange: { operation, answer, drawn: { query: operation.query, data: answer.data } },
    };
  }
}

/**
 * Work that is given up when nobody looks any more: GraphiQL would write an answer into any tab that is shown
 * then.
 */
function observed(work: (signal: AbortSignal, next: (answer: Answer) => void) => Promise<void>) {
  return {
    subscribe({ next, error, complete }: Observer) {
      const leaving = new AbortController();
      const { signal } = leaving;
      work(signal, next).then(
        () => {
          if (!signal.aborted) complete();
        },
        (reason: unknown) => {
          if (!signal.aborted) error(reason);
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

/** Title of an operation: its name, or that it has none. */
export function titleOf({ query, operationName }: Operation): string {
  return operationName ?? /^[^#]*?\bquery\s+(\w+)/m.exec(query)?.[1] ?? 'An operation without a name';
}
