import {
  ApolloServer,
  type ApolloServerPlugin,
  type GraphQLResponse,
  HeaderMap,
  type HTTPGraphQLResponse,
} from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled';
import { type FormattedExecutionResult, GraphQLError, getOperationAST } from 'graphql';
import { toError } from 'graphql/jsutils/toError.js';
import { createObjectMemo } from '../../cache/lru.ts';
import { yieldToEventLoop } from '../../shared/async/turns.ts';
import { errorBody, excerpt, type FailureCode } from '../../shared/errors.ts';
import { formatError } from '../schema/errors.ts';
import { isModern, refusalTypeFor } from './accept.ts';
import { setRunHeaders } from './answer-headers.ts';
import { writeBody } from './body.ts';
import { UNPROVEN } from './callers.ts';
import { entityTag, tagged } from './entity-tags.ts';
import { forApollo } from './for-apollo.ts';
import { extensionsOf, type OperationRun } from './operation-run.ts';
import type { OperationsParts } from './operations-parts.ts';
import type { AskedText } from './persisted.ts';
import { isExplained } from './plain-requests.ts';
import type { RunMeans } from './plain-run.ts';
import { planAsked, planToRun } from './planning.ts';
import { PREFLIGHTED_HEADERS } from './preflight.ts';
import { prepareOperation } from './prepared-operation.ts';
import { type ReadText, rulesBesideSpecified } from './reading.ts';
import { ALLOWED_METHODS, type GatewayRequest, METHODS } from './requests.ts';
import type { GatewayResponse } from './responses.ts';
import { shownErrors } from './shown-errors.ts';
import { statusOf } from './statuses.ts';

/** One request on its way through Apollo Server, which clones its context, but not the objects in it. */
interface ApolloContext {
  readonly passed: {
    readonly run: OperationRun;
    /** True if the client wants the plan instead of the answer. */
    readonly isExplained: boolean;
  };
}

/** The type of the body of a QUERY (RFC 10008). */
export const ACCEPT_QUERY = ['accept-query', 'application/json'] as const;

/**
 * Opens Apollo Server for the requests that aren't plain: it reads all forms of GraphQL over HTTP, keeps persisted texts by
 * their protocol, refuses what a browser could be tricked into sending, and words what is wrong with a request. Their
 * operations run by the same plans as all others.
 */
export async function openApollo(parts: RunMeans) {
  const { persisted, execution } = parts;
  const apollo = await openServer(parts);

  async function answerRequest(request: GatewayRequest, run: OperationRun): Promise<GatewayResponse> {
    if (!METHODS.has(request.method)) return wrongMethod(request, run, parts);
    const asked = forApollo(request, persisted);
    if (asked.refusal !== undefined) {
      const isUnlisted = asked.refusal.code === 'DOCUMENT_NOT_ALLOWED';
      return refused(asked.refusal, !isUnlisted ? 400 : isModern(run.accepts) ? 403 : 200, run, parts);
    }
    run.onError = asked.onError;
    const { headers: given, ...rest } = asked.request;
    const passed: ApolloContext['passed'] = { run, isExplained: isExplained(request) };
    const {
      status = 200,
      headers,
      body,
    } = await apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: { ...rest, headers: new HeaderMap(Object.entries(given)) },
      context: async () => ({ passed }),
    });
    // An answer that the client can't take is not sent, though it may have been made.
    if (status === 406) run.errors = null;
    const result = resultIn(body);
    const { written } = run;
    let text = written !== null && run.errors !== null ? written.body : worded(result, run);
    const tooLong = written === null ? execution.tooLong([String(text)]) : null;
    if (tooLong !== null) {
      run.errors = [tooLong];
      text = writeBody(['null'], shownErrors([tooLong], run.requestId), extensionsOf(run));
    }
    setRunHeaders(headers, status, run, parts);
    const response = { status, headers, body: text };
    // An answer without a plan of its own is an error, or a price: that is another once something is cached.
    if (run.errors === null || written === null) return response;
    return tagged(request, asked.isNamed, response, run.errors, () => entityTag(written.data, run.onError));
  }

  return { answer: answerRequest, stop: () => apollo.stop() };
}

/** Identifiers of requests on errors that are about to be worded: an error of our own is logged with its request. */
const requestIds = createObjectMemo<string | undefined>('request id');

async function openServer(parts: RunMeans): Promise<ApolloServer<ApolloContext>> {
  const { config, persisted, onError } = parts;
  const apollo = new ApolloServer<ApolloContext>({
    schema: parts.schema,
    // Our rules say whether the schema is told.
    introspection: true,
    includeStacktraceInErrorResponses: false,
    csrfPrevention: { requestHeaders: [...PREFLIGHTED_HEADERS] },
    persistedQueries: {
      cache: {
        get: async (key) => persisted.get(hashIn(key)),
        set: async (key, text) => persisted.set(hashIn(key), text),
        delete: async () => false,
      },
    },
    // The gateway keeps operations that run again and again in a form of its own.
    documentStore: null,
    stopOnTerminationSignals: false,
    parseOptions: { maxTokens: config.maxTokens },
    validationRules: rulesBesideSpecified(config),
    validationOptions: { hideSuggestions: !config.introspection },
    formatError: (formatted, error) =>
      formatError(formatted, error, (cause) => onError(cause, 'operation', requestIds.of(error as object))),
    // The gateway writes bodies itself, and Apollo Server passes on what it is given here (`resultIn`).
    stringifyResult: (result) => result as unknown as string,
    logger: { debug() {}, info() {}, warn() {}, error: (message) => onError(message, 'apollo') },
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      // It would wrap every resolver of the schema for good, at the first request with a header that anyone can send.
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      runningPlugin(parts),
    ],
  });
  await apollo.start();
  return apollo;
}

/** Takes the hash out of a key: Apollo puts a word before it. */
function hashIn(key: string): string {
  return key.slice(key.indexOf(':') + 1);
}

/** What Apollo Server has made: parts would be those of an executor that makes some, and ours makes none. */
function resultIn(body: HTTPGraphQLResponse['body']): FormattedExecutionResult {
  return (body as unknown as { readonly string: FormattedExecutionResult }).string;
}

/** Does the work on an operation beside reading and validating it. */
function runningPlugin(parts: RunMeans): ApolloServerPlugin<ApolloContext> {
  const { execution } = parts;
  return {
    async requestDidStart({ contextValue: { passed } }) {
      const { run } = passed;
      return {
        async didEncounterErrors({ errors }) {
          for (const error of errors) requestIds.put(error, run.requestId);
        },
        async responseForOperation({ source: text = '', document, operation, request }) {
          // There is none if the request names an operation that isn't in its document, although the types say
          // otherwise: then Apollo Server says so.
          if (operation === undefined) return null;
          const { operationName, variables = {} } = request;
          const asked = { text, operationName, document, operation, variables };
          try {
            return single(await answer(asked, passed, parts));
          } catch (error) {
            const failed =
              error instanceof GraphQLError ? error : new GraphQLError('', { originalError: toError(error) });
            return single({ errors: [execution.format(failed, run.requestId)] }, 500);
          }
        },
        async willSendResponse({ response, request, document, operationName }) {
          if (response.body.kind !== 'single') return;
          if (run.written !== null) {
            response.http.status = run.written.status;
            return;
          }
          const { singleResult } = response.body;
          const { errors = [] } = singleResult;
          const operation =
            document === undefined ? null : (getOperationAST(document, operationName) ?? null);
          execution.finish(run, operation, errors);
          const hadOperation = request.query !== undefined;
          const { accepts } = run;
          const about = { accepts, errors, data: () => null, operation, hadOperation };
          const status = statusOf(about, response.http.status);
          if (status !== undefined) response.http.status = status;
          singleResult.extensions = { ...singleResult.extensions, ...extensionsOf(run) };
        },
      };
    },
  };
}

/** Answers a valid operation, or prices it. The data is where the plan has written it, in the run. */
async function answer(
  {
    text,
    operationName,
    document,
    operation,
    variables,
  }: AskedText & ReadText & { readonly variables: Readonly<Record<string, unknown>> },
  { run, isExplained }: ApolloContext['passed'],
  parts: RunMeans,
): Promise<FormattedExecutionResult> {
  const { schema, learned, operations, execution } = parts;
  const { caller } = run.context;
  const refusedFor = (errors: readonly GraphQLError[]) => ({
    errors: errors.map((error) => execution.format(error, run.requestId)),
  });
  // Parsing and validating take one slice, planning and pricing another, and the beginning a third: the first time, each
  // takes tens of milliseconds. The first turn may be one of the same iteration of the event loop, ahead of its timers.
  await yieldToEventLoop(caller);
  await yieldToEventLoop(caller);
  if (isExplained) {
    const prepared = prepareOperation(schema, document, operation, learned);
    const planned = planAsked({ text, prepared, variables }, run, parts);
    if ('errors' in planned) return refusedFor(planned.errors);
    const explained = await execution.explain(planned, run);
    if (explained instanceof GraphQLError) return refusedFor([explained]);
    return {
      data: null,
      ...(explained.errors.length > 0 ? { errors: explained.errors } : {}),
      extensions: explained.extensions,
    };
  }
  const { prepared } = operations.prepare(
    { text, operationName, document, operation },
    caller.flow !== UNPROVEN,
  );
  const planned = await planToRun({ text, prepared, variables }, run, parts);
  if ('errors' in planned) return refusedFor(planned.errors);
  await yieldToEventLoop(caller);
  await execution.answer(planned, run);
  return { data: null };
}

/** @param status of a result without data */
function single(singleResult: FormattedExecutionResult, status = 400): GraphQLResponse {
  const http = { status: singleResult.data === undefined ? status : 200, headers: new HeaderMap() };
  return { http, body: { kind: 'single', singleResult } };
}

/** Bounds the words of Apollo's answer, and adds the bill of a request that was refused before it ran. */
function worded({ errors, ...rest }: FormattedExecutionResult, run: OperationRun): string {
  const shown = errors && shownErrors(errors, run.requestId);
  return JSON.stringify({
    ...(shown && { errors: shown }),
    ...rest,
    ...(run.errors === null && { extensions: { upstream: run.bill } }),
  });
}

function refused(
  { message, code }: { readonly message: string; readonly code: FailureCode | 'BAD_REQUEST' },
  status: number,
  run: OperationRun,
  clocks: OperationsParts,
): GatewayResponse {
  const { accepts, bill, requestId } = run;
  const headers = new Map([['content-type', refusalTypeFor(accepts)]]);
  setRunHeaders(headers, status, run, clocks);
  return {
    status,
    headers,
    body: errorBody(code, message, { requestId }, { extensions: { upstream: bill } }),
  };
}

function wrongMethod(
  { method }: GatewayRequest,
  run: OperationRun,
  clocks: OperationsParts,
): GatewayResponse {
  const message = `${excerpt(method)} brings no operation. Send it by GET, POST or QUERY.`;
  const { headers, ...refusal } = refused({ code: 'BAD_REQUEST', message }, 405, run, clocks);
  return {
    ...refusal,
    headers: new Map([...headers, ['allow', ALLOWED_METHODS], ACCEPT_QUERY]),
  };
}
