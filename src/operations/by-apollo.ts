import { HeaderMap } from '@apollo/server';
import {
  type DocumentNode,
  execute,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getVariableValues,
  type OperationDefinitionNode,
} from 'graphql';
import { yieldToEventLoop } from '../async/yielding.ts';
import type { Config } from '../config.ts';
import { Failure } from '../errors.ts';
import { conditionsOf, fragmentsIn } from '../execution/plan.ts';
import type { GraphContext } from '../graph/context.ts';
import { listRefusal } from '../graph/limits.ts';
import { leadsToFigures, type SelectionScope } from '../graph/selection.ts';
import { boundOf, type ListSizes } from '../pricing/bound.ts';
import { MAX_NESTING } from '../upstream/nesting.ts';
import { setRunHeaders } from './answer-headers.ts';
import { type ApolloParts, createApollo, type OperationHooks } from './apollo.ts';
import { type PreparedParts, preparedFor } from './by-plan.ts';
import { wholeRefused } from './execution.ts';
import { isDeepRequest } from './nesting.ts';
import { extensionsOf, type OperationRun } from './operation-run.ts';
import { unlisted } from './persisted.ts';
import type { HandleRun } from './pipeline.ts';
import type { PlainRequests } from './plain-requests.ts';
import type { PlannedOperation } from './prepared.ts';
import { mayReadSchema, readsSchemaAlone } from './prepared.ts';
import { bringsUnlisted, forApollo, hasText } from './requests.ts';
import {
  entityTag,
  type GatewayResponse,
  isModern,
  mayAccept,
  statusOf,
  tagged,
  writeBody,
} from './responses.ts';
import { toldErrors } from './told-errors.ts';

export interface ByApolloParts extends PreparedParts, Pick<ApolloParts<object>, 'persisted' | 'onFault'> {
  readonly schema: GraphQLSchema;
  readonly config: Config;
  readonly plainRequests: PlainRequests;
  /** Tells the sizes that the service's own lists have shown. */
  readonly listed: () => ListSizes;
}

interface ApolloContext extends GraphContext {
  readonly run: OperationRun;
  /** Apollo Server clones the context, but not the objects in it. */
  readonly passed: Passed;
}

/** The marks of one request on its way through Apollo Server. */
interface Passed {
  /** The operation, with its plan; null if graphql-js has to execute it, or nobody. */
  planned: PlannedOperation | null;
  /** The answer's data, if no plan has written it. */
  data: unknown;
}

const NOT_ACCEPTABLE = { extensions: { code: 'BAD_REQUEST' } };

/** Words the refusal of a subscription, and names the way to subscribe. */
function subscribedByPost({ subscriptions }: Pick<Config, 'subscriptions'>): GraphQLError {
  const message = subscriptions
    ? 'A subscription takes a connection of its own: accept text/event-stream, here or at /graphql/stream (graphql-sse), or subscribe at /graphql over WebSocket (graphql-transport-ws).'
    : 'This gateway offers no subscriptions (SUBSCRIPTIONS=off). Ask by a query, again and again: what has not changed is held.';
  return new GraphQLError(message, { extensions: { code: 'BAD_REQUEST', http: { status: 400 } } });
}

/** Opens the last stage: Apollo Server reads, validates and answers a request. */
export async function byApollo(
  parts: ByApolloParts,
): Promise<{ readonly handle: HandleRun; stop(): Promise<void> }> {
  const { schema, config, persisted, onFault, keeping, plainRequests, execution } = parts;
  const apollo = await createApollo<ApolloContext>({
    schema,
    config,
    persisted,
    onFault,
    hooks: hooksOf(parts),
    requestIdOf: ({ run }) => run.requestId,
  });

  const handle: HandleRun = async ({ request, plain }, run) => {
    if (isDeepRequest(request)) return refused(TOO_DEEP, 400, run, parts);
    if (bringsUnlisted(request, persisted))
      return refused(unlisted(), isModern(run.accepts) ? 403 : 200, run, parts);
    const { method, headers: given, search, body: content } = forApollo(request);
    const passed: Passed = { planned: null, data: null };
    const {
      status = 200,
      headers,
      body,
    } = await apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: { method, headers: new HeaderMap(Object.entries(given)), search, body: content },
      context: async () => ({ ...run.context, isByGraphqlJs: true, run, passed }),
    });
    // An answer that the client can't take is not sent, though it may have been made.
    if (status === 406) run.errors = null;
    const tooLong = body.kind === 'complete' ? execution.tooLong([body.string]) : null;
    if (tooLong !== null) run.errors = [tooLong];
    setRunHeaders(headers, status, run, parts);
    if (body.kind !== 'complete') return { status, headers, body: body.asyncIterator };
    const { planned } = passed;
    const { written } = run;
    // An answer that a plan has written is sent as it is: Apollo would write it in one go, however long it is.
    const byApollo =
      tooLong === null
        ? worded(body.string, run)
        : writeBody(['null'], toldErrors([tooLong], run.requestId), extensionsOf(run));
    const text = written !== null && run.errors !== null ? written.body : byApollo;
    const response = { status, headers, body: text };
    if (run.errors === null) return response;
    const isAnswered = status === 200 && run.errors.length === 0;
    if (planned !== null || (run.isOfSchema && isAnswered))
      plainRequests.learn(run.accepts, headers.get('content-type') ?? '');
    if (plain !== null && run.isOfSchema && isAnswered) keeping.keepOfSchema(plain.params, text, run);
    // An operation that has come only once is not kept, and neither is its answer.
    else if (plain !== null && written !== null && preparedFor(plain.params, run, parts) !== undefined)
      keeping.keep(plain.params, written, run);
    return tagged(request, !hasText(request), response, run.errors, () =>
      entityTag(written?.data ?? [JSON.stringify(passed.data)]),
    );
  };
  return { handle, stop: () => apollo.stop() };
}

/** Builds the hooks for operations that Apollo Server has found valid. */
function hooksOf(parts: ByApolloParts): OperationHooks<ApolloContext> {
  const { schema, config, operations, proven, execution, listed } = parts;
  return {
    async check(valid, { run, passed }) {
      const { text, operationName, document, operation, variables } = valid;
      if (operation.operation === 'subscription') throw subscribedByPost(config);
      const tooLong = listRefusal(operation, variables, config.maxListItems);
      if (tooLong !== null) throw tooLong;
      const scope = scopeOf(schema, document, operation, variables);
      // If the variables don't fit, execution says so.
      if (scope === null) return null;
      const nullCondition = mayReadSchema(text) ? nullConditionIn(document, scope.variableValues) : null;
      if (nullCondition !== null) throw nullCondition;
      run.isOfSchema = readsSchemaAlone(operation);
      if (!mayAccept(run.accepts))
        throw new GraphQLError('The client takes no answer of ours.', NOT_ACCEPTABLE);
      const { variableValues } = scope;
      const { caller } = run.context;
      // Parsing and validating take one slice, planning and pricing another, and the beginning a third: the first time,
      // each takes tens of milliseconds. The first turn may be one of the same iteration of the event loop, ahead of
      // its timers.
      await yieldToEventLoop(caller);
      await yieldToEventLoop(caller);
      if (run.isExplained) return execution.explain(valid, variableValues, run);
      const planned = operations
        .prepare(text, operationName, document, operation, proven.has(caller.keyDigest))
        .with(variables);
      const bound = planned?.bound ?? boundOf(schema, operation, scope, listed());
      const refusal = await execution.refusalOf(valid, variableValues, bound, planned?.plan ?? null, run);
      if (refusal !== null) throw refusal;
      await yieldToEventLoop(caller);
      passed.planned = planned;
      const root = schema.getRootType(operation.operation);
      if (planned === null && root) {
        if (leadsToFigures(root, operation.selectionSet, scope)) run.participant.expect();
        else run.participant.forgo();
      }
      return null;
    },
    async execute(operation, context) {
      const { planned } = context.passed;
      if (planned === null) {
        const result = await execute({ ...operation, contextValue: context });
        const { refusal } = context.effort;
        return refusal === null ? result : { data: null, errors: [wholeRefused(refusal)] };
      }
      await execution.answer(planned, context.run);
      return { data: null };
    },
    complete({ operation, errors, data, status, hadOperation }, { run, passed }) {
      if (run.written !== null) return { status: run.written.status, extensions: {} };
      passed.data = data;
      execution.finish(run, operation, errors);
      return {
        status: statusOf({ accepts: run.accepts, errors, data: () => data, operation, hadOperation }, status),
        extensions: { ...extensionsOf(run) },
      };
    },
  };
}

/**
 * Refuses an operation with a condition that is null if it may read the schema. graphql-js runs such operations and
 * reads the schema in one go, however long that takes. Each field with the condition would be an error there.
 */
function nullConditionIn(
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
): GraphQLError | null {
  const name = conditionsOf(document).find((condition) => variables[condition] === null);
  if (name === undefined) return null;
  const message = `Variable "$${name}" stands in a condition (@skip, @include), and may not be null.`;
  return new GraphQLError(message, {
    originalError: new Failure('BAD_USER_INPUT', message),
    extensions: { http: { status: 400 } },
  });
}

/**
 * Bounds the words of Apollo's answer. A request that was refused before it was an operation has cost nothing, and says
 * so like any other.
 */
function worded(body: string, { errors, bill, requestId }: OperationRun): string {
  const isRefused = errors === null && body.startsWith('{');
  if (!isRefused && !body.startsWith('{"errors"')) return body;
  const said: { errors?: GraphQLFormattedError[]; extensions?: unknown } = JSON.parse(body);
  return JSON.stringify({
    ...said,
    ...(said.errors ? { errors: toldErrors(said.errors, requestId) } : {}),
    ...(isRefused ? { extensions: { upstream: bill } } : {}),
  });
}

const TOO_DEEP = {
  message: `The request is nested more than ${MAX_NESTING} levels deep.`,
  code: 'BAD_REQUEST',
};

/** Refuses a request without looking into it. */
function refused(
  { message, code }: Readonly<Record<'message' | 'code', string>>,
  status: number,
  run: OperationRun,
  clocks: Pick<ByApolloParts, 'now' | 'steadyNow'>,
): GatewayResponse {
  const { accepts, bill, requestId } = run;
  const errors = [{ message, extensions: { code, retryable: false, requestId } }];
  const type = isModern(accepts) ? 'graphql-response+json' : 'json';
  const headers = new Map([['content-type', `application/${type}; charset=utf-8`]]);
  setRunHeaders(headers, status, run, clocks);
  return { status, headers, body: JSON.stringify({ errors, extensions: { upstream: bill } }) };
}

/** Collects the data for a look at an operation's selections; null if its variables don't fit. */
function scopeOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): SelectionScope | null {
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  return coerced === undefined ? null : { schema, fragments: fragmentsIn(document), variableValues: coerced };
}
