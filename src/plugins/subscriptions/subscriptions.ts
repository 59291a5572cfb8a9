import {
  createSourceEventStream,
  type GraphQLError,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
} from 'graphql';
import type { ComposedGateway, Entered } from '../../gateway/plugin.ts';
import type { Wording } from '../../graphql/request/prefixed.ts';
import { rulesOf } from '../../graphql/request/reading.ts';
import type { Caller } from '../../service/caller.ts';
import { Flow, yieldToEventLoop } from '../../shared/async/turns.ts';
import { isDeep, TOO_DEEP } from '../../shared/exact-json.ts';
import { EventQueue, noteCalls } from './event-queue.ts';
import { EventWork, eventResults, type LiveResults, openRunOf } from './event-results.ts';
import { createFeeds } from './feed.ts';
import { asGraphql, liveErrors, refused } from './live-errors.ts';
import { SubscriptionPlaces } from './places.ts';
import { type LiveRequest, lengthOf, type ReadOperation, readOperation } from './reading.ts';
import type { SubscribingContext } from './resolvers.ts';

type Opened =
  | { readonly args: ReadOperation['args']; readonly results: LiveResults }
  | { readonly errors: readonly GraphQLError[] };

interface LiveSettings {
  /** Subscriptions of one key at once. */
  readonly most: number;
  readonly pollMs: number;
  /** Null if routers word operations as clients do. */
  readonly wording: Wording | null;
}

export type Subscriptions = ReturnType<typeof openSubscriptions>;

export function openSubscriptions(
  { operations: parts, service, config }: ComposedGateway,
  { most, pollMs, wording }: LiveSettings,
) {
  const { admission, openRun, onError } = parts;
  const { operationTimeoutMs: timeoutMs, maxUpstreamCalls, rateLimitWaitMs } = config;
  const waitMs = Math.min(rateLimitWaitMs, timeoutMs);
  const feeds = createFeeds({ ...service, maxUpstreamCalls, timeoutMs, pollMs, waitMs, onError });
  const rules = rulesOf(config);
  const places = new SubscriptionPlaces(most, admission);
  const eventWork = new EventWork();
  /** Texts are parsed in it before their caller is known. */
  const looks = new Flow();
  let openCount = 0;

  async function begin(
    read: ReadOperation,
    request: LiveRequest,
    { caller, watch }: Entered,
    onEnd: () => void,
  ): Promise<Opened> {
    const run = openRunOf(openRun, request, caller);
    try {
      const contextValue: SubscribingContext = { ...run.context, live: feeds.of(caller) };
      const stream = await createSourceEventStream({ ...read.args, contextValue });
      if (!(Symbol.asyncIterator in stream)) return { errors: stream.errors ?? [] };
      const events: AsyncIterable<unknown> = stream;
      openCount += 1;
      const unwatch = watch?.((failure) => {
        if (stream instanceof EventQueue) stream.fail(failure);
      });
      const end = () => {
        openCount -= 1;
        unwatch?.();
        onEnd();
        request.reader.onEnd();
      };
      const begun = { read, request, caller, run, events: events[Symbol.asyncIterator](), onEnd: end };
      return { args: read.args, results: eventResults(begun, eventWork, parts) };
    } finally {
      noteCalls(caller, run.bill);
      run.deadline.stop();
      run.participant.leave();
    }
  }

  /** Translates a router's prefixed names; its results are translated back. */
  function inOurWords(request: LiveRequest): LiveRequest {
    const query = wording?.ours(request.query) ?? null;
    return query === null ? request : { ...request, query, theirs: wording?.theirs };
  }

  async function take(asked: LiveRequest, entering: Promise<Entered>): Promise<Opened> {
    const { caller, watch } = await entering;
    const request = inOurWords(asked);
    if (isDeep(request.variables)) return refused('BAD_REQUEST', TOO_DEEP);
    const place = places.take(caller, () => lengthOf(request));
    let isBegun = false;
    try {
      const opened = await place.begin(async () => {
        const read = await place.read(() => readOperation(request, rules, parts));
        if ('errors' in read) return read;
        return begin(read, request, { caller: named(caller, read.operation), watch }, place.giveBack);
      });
      isBegun = 'results' in opened;
      return opened;
    } finally {
      if (!isBegun) place.giveBack();
    }
  }

  return {
    /** Returns the errors of a subscription that can't begin, those of a rejected `entering` included; never throws. */
    async open(request: LiveRequest, entering: Promise<Entered>): Promise<Opened> {
      const opened = await take(request, entering).catch((error: unknown) => ({
        errors: [asGraphql(error)],
      }));
      return 'results' in opened ? opened : { errors: liveErrors(opened.errors, request.requestId, onError) };
    },
    /** Answers at once for a text that can't hold a subscription; otherwise parses it in a turn of its own. */
    isSubscription(query: unknown, name: unknown): false | Promise<boolean> {
      if (typeof query !== 'string' || !/\bsubscription\b/.test(query)) return false;
      return yieldToEventLoop({ flow: looks }).then(() => isSubscription(query, name, config.maxTokens));
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
