import {
  createSourceEventStream,
  type GraphQLError,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
} from 'graphql';
import type { Caller } from '../../service/caller.ts';
import { Flow, yieldToEventLoop } from '../../shared/async/turns.ts';
import { isDeep, TOO_DEEP } from '../../shared/exact-json.ts';
import type { Wording } from '../request/prefixed.ts';
import { rulesOf } from '../request/reading.ts';
import type { GraphContext } from '../schema/context.ts';
import { demandsOf } from './demands.ts';
import { EventQueue, noteCalls } from './event-queue.ts';
import { EventWork, eventResults, openRunOf } from './event-results.ts';
import { createFeeds } from './feed.ts';
import { asGraphql, liveErrors, refused } from './live-errors.ts';
import type { Entered, LiveMeans } from './live-parts.ts';
import { SubscriptionPlaces } from './places.ts';
import { lengthOf, type ReadOperation, readOperation } from './reading.ts';
import type { Changes, LiveRequest, LiveResults, Subscriptions } from './subscribing.ts';

type Opened = { readonly results: LiveResults } | { readonly errors: readonly GraphQLError[] };

export interface LiveSettings {
  /** Subscriptions of one key at once. */
  readonly most: number;
  /** Milliseconds, at the least, between two looks at the sources for one key. */
  readonly pollMs: number;
}

/** The context in which a subscription begins. */
export interface SubscribingContext extends GraphContext {
  readonly changes: Changes;
}

interface Beginning {
  readonly request: LiveRequest;
  readonly entered: Entered;
  /** Translates results for a router with prefixed names. */
  readonly theirs: Wording['theirs'] | undefined;
  readonly onEnd: () => void;
}

export function openSubscriptions(
  { enter, wording, operations: parts, service }: LiveMeans,
  { most, pollMs }: LiveSettings,
): Subscriptions {
  const { admission, config, openRun, onError } = parts;
  const { operationTimeoutMs: timeoutMs, maxUpstreamCalls, rateLimitWaitMs } = config;
  const waitMs = Math.min(rateLimitWaitMs, timeoutMs);
  const feeds = createFeeds({ ...service, maxUpstreamCalls, timeoutMs, pollMs, waitMs, onError });
  const rules = rulesOf(config);
  const places = new SubscriptionPlaces(most, admission);
  const eventWork = new EventWork();
  /** Texts are parsed in it before their caller is known. */
  const looks = new Flow();
  let openCount = 0;

  function changesIn(context: GraphContext): Changes {
    const feed = feeds.of(context.caller);
    return {
      figures: async (wanted) => feed.figures(await demandsOf(wanted, context), wanted.since ?? null),
      sources: (keys) => feed.sources(keys),
    };
  }

  async function begin(
    read: ReadOperation,
    { request, entered: { caller, watch }, theirs, onEnd }: Beginning,
  ): Promise<Opened> {
    const run = openRunOf(openRun, request, caller);
    try {
      const contextValue: SubscribingContext = { ...run.context, changes: changesIn(run.context) };
      const events = await createSourceEventStream({ ...read.args, contextValue });
      if (!(Symbol.asyncIterator in events)) return { errors: events.errors ?? [] };
      if (!(events instanceof EventQueue)) throw new TypeError('A subscription follows its `changes`.');
      openCount += 1;
      const unwatch = watch?.((failure) => events.fail(failure));
      const end = () => {
        openCount -= 1;
        unwatch?.();
        onEnd();
        request.reader.onEnd();
      };
      return {
        results: eventResults({ read, request, theirs, caller, run, events, onEnd: end }, eventWork, parts),
      };
    } finally {
      noteCalls(caller, run.bill);
      run.deadline.stop();
      run.participant.leave();
    }
  }

  /** Translates a router's prefixed names; its results are translated back. */
  function inOurWords(asked: LiveRequest): Pick<Beginning, 'request' | 'theirs'> {
    const query = wording?.ours(asked.query) ?? null;
    if (query === null) return { request: asked, theirs: undefined };
    return { request: { ...asked, query }, theirs: wording?.theirs };
  }

  async function take(asked: LiveRequest): Promise<Opened> {
    const { query, operationName, variables, headers, address, requestId, signal } = asked;
    const body = { query, operationName, variables };
    const asPosted = { method: 'POST', headers, search: '', body, address, requestId, signal };
    const { caller, watch } = await enter(asPosted);
    const { request, theirs } = inOurWords(asked);
    if (isDeep(variables)) return refused('BAD_REQUEST', TOO_DEEP);
    const place = places.take(caller, () => lengthOf(request));
    let isBegun = false;
    try {
      const opened = await place.begin(async () => {
        const read = await place.read(() => readOperation(request, rules, parts));
        if ('errors' in read) return read;
        const entered = { caller: named(caller, read.operation), watch };
        return begin(read, { request, entered, theirs, onEnd: place.giveBack });
      });
      isBegun = 'results' in opened;
      return opened;
    } finally {
      if (!isBegun) place.giveBack();
    }
  }

  return {
    async open(request) {
      const opened = await take(request).catch((error: unknown) => ({ errors: [asGraphql(error)] }));
      return 'results' in opened ? opened : { errors: liveErrors(opened.errors, request.requestId, onError) };
    },
    isSubscription(query, operationName) {
      if (typeof query !== 'string' || !/\bsubscription\b/.test(query)) return false;
      return yieldToEventLoop({ flow: looks }).then(() =>
        isSubscription(query, operationName, config.maxTokens),
      );
    },
    count: () => openCount,
    stop: feeds.stop,
  };
}

function isSubscription(query: string, operationName: unknown, maxTokens: number): boolean {
  try {
    const name = typeof operationName === 'string' ? operationName : null;
    return getOperationAST(parse(query, { maxTokens }), name)?.operation === 'subscription';
  } catch {
    return false;
  }
}

/** Has the calls of a caller counted under the name of an operation. */
function named(caller: Caller, { name }: OperationDefinitionNode): Caller {
  const { note } = caller;
  if (note === undefined) return caller;
  return { ...caller, note: (operation) => note({ ...operation, name: name?.value ?? null }) };
}
