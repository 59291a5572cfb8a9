import {
  ApolloServer,
  type ApolloServerOptionsWithGateway,
  type ApolloServerPlugin,
  HeaderMap,
} from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled';
import {
  type DocumentNode,
  execute,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  type ValidationRule,
} from 'graphql';
import { createObjectMemo } from '../../cache/lru.ts';
import { yieldToEventLoop } from '../../shared/async/turns.ts';
import { errorBody, excerpt, Failure, type FailureCode } from '../../shared/errors.ts';
import { conditionsOf } from '../execution/plan.ts';
import { errorOf, formatError } from '../schema/errors.ts';
import { contentTypeFor, isModern, refusalTypeFor } from './accept.ts';
import { setRunHeaders } from './answer-headers.ts';
import type { AnswersTable } from './answers.ts';
import { writeBody } from './body.ts';
import { UNPROVEN } from './callers.ts';
import { onceOver } from './delivery.ts';
import { entityTag, tagged } from './entity-tags.ts';
import type { Execution } from './execution.ts';
import { forApollo } from './for-apollo.ts';
import { inputRefusal } from './input-limits.ts';
import { limitRules } from './limit-rules.ts';
import { extensionsOf, type OpenRun, type OperationRun, type RanOperation } from './operation-run.ts';
import type { OperationsParts } from './operations-parts.ts';
import { isExplained, type PlainRequest } from './plain-requests.ts';
import { PREFLIGHTED_HEADERS } from './preflight.ts';
import type { PlannedOperation, ValidOperation } from './prepared-operation.ts';
import type { PreparedOperations } from './prepared-operations.ts';
import { ALLOWED_METHODS, type GatewayRequest, METHODS } from './requests.ts';
import type { GatewayResponse } from './responses.ts';
import { mayReadSchema, readsSchemaAlone } from './schema-reads.ts';
import { shownErrors } from './shown-errors.ts';
import type { Incoming } from './stages.ts';
import { statusOf } from './statuses.ts';

/** Refuses `_service`, which tells all of the schema: Apollo Server's rule refuses `__schema` and `__type` alone. */
const noSdl: ValidationRule = (context) => ({
  Field(node) {
    if (node.name.value !== '_service' || context.getParentType() !== context.getSchema().getQueryType())
      return;
    context.reportError(
      new GraphQLError('The schema of this gateway is closed, so it does not answer `_service`.', {
        nodes: node,
        extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
      }),
    );
  },
});

/** Takes suggestions, which name values of enums, out of errors of variables: Apollo Server leaves them there. */
function withoutSuggestion(message: string): string {
  return message.startsWith('Variable "$') ? message.replace(/ ?Did you mean (.+?)\?$/, '') : message;
}

/** The means of all stages, and the tables that all operations share. */
interface RunMeans extends OperationsParts {
  readonly operations: PreparedOperations;
  readonly execution: Execution;
  readonly answers: AnswersTable;
}

/** One request on its way through Apollo Server, which clones its context, but not the objects in it. */
interface ApolloContext {
  readonly passed: {
    readonly run: OperationRun;
    /** True if the client wants the plan instead of the answer. */
    readonly isExplained: boolean;
    /** The operation, with its plan; null if there is nothing to run. */
    planned: PlannedOperation | null;
  };
}

/** The type of the body of a QUERY (RFC 10008). */
export const ACCEPT_QUERY = ['accept-query', 'application/json'] as const;

/** Refuses a subscription, in the words of whoever brings them. */
function subscribedByPost(schema: GraphQLSchema): GraphQLError {
  const { posted = 'A subscription is no request that has one answer.' } =
    schema.getSubscriptionType()?.extensions ?? {};
  return new GraphQLError(String(posted), { extensions: { code: 'BAD_REQUEST', http: { status: 400 } } });
}

/**
 * Opens the last stage. It opens the run of each operation, and closes it once all of the answer is there. Operations that
 * were found valid before run by their plans; Apollo Server reads, validates and answers the rest.
 */
export async function openRunning(openRun: OpenRun, parts: RunMeans) {
  const { persisted, answers, execution } = parts;
  const apollo = await openServer(parts);

  async function byApollo({ request, plain }: Incoming, run: OperationRun): Promise<GatewayResponse> {
    if (!METHODS.has(request.method)) return wrongMethod(request, run, parts);
    const asked = forApollo(request, persisted);
    if (asked.refusal !== undefined) {
      const isUnlisted = asked.refusal.code === 'DOCUMENT_NOT_ALLOWED';
      return refused(asked.refusal, !isUnlisted ? 400 : isModern(run.accepts) ? 403 : 200, run, parts);
    }
    run.onError = asked.onError;
    const { headers: given, ...rest } = asked.request;
    const passed: ApolloContext['passed'] = { run, isExplained: isExplained(request), planned: null };
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
    // Apollo's own parts would be those of an executor that makes some, and ours makes none.
    const { string } = body as Extract<typeof body, { readonly kind: 'complete' }>;
    const tooLong = execution.tooLong([string]);
    if (tooLong !== null) run.errors = [tooLong];
    setRunHeaders(headers, status, run, parts);
    const { written } = run;
    // An answer that a plan has written is sent as it is: Apollo would write it in one go, however long it is.
    const answerBody =
      tooLong === null
        ? worded(string, run)
        : writeBody(['null'], shownErrors([tooLong], run.requestId), extensionsOf(run));
    const text = written !== null && run.errors !== null ? written.body : answerBody;
    const response = { status, headers, body: text };
    // An answer without a plan of its own is an error, or a price: that is another once something is cached.
    if (run.errors === null || written === null) return response;
    // An operation that has come only once is not cached, and neither is its answer, but for those about the schema.
    if (plain !== null) {
      const isKnown = parts.operations.find(plain.params, run.context.caller.flow !== UNPROVEN) !== undefined;
      if (isKnown || (plain.mayReadSchema && readsSchemaAlone(written.operation)))
        answers.save(plain, written, run);
    }
    return tagged(request, asked.isNamed, response, run.errors, () => entityTag(written.data, run.onError));
  }

  return {
    async run(incoming: Incoming): Promise<RanOperation> {
      const { request, caller, plain, trace, delivery } = incoming;
      const run = openRun(request, caller, trace, delivery, incoming);
      try {
        const answered = plain && (await answerByPlan(request, plain, run, parts));
        return { response: answered ?? (await byApollo(incoming, run)), run };
      } finally {
        if (delivery === null) close(run);
        else onceOver(delivery, () => close(run));
      }
    },
    stop: () => apollo.stop(),
  };
}

/** Identifiers of requests on errors that are about to be worded: an error of our own is logged with its request. */
const requestIds = createObjectMemo<string | undefined>('request id');

/** Opens Apollo Server: it reads all forms of GraphQL over HTTP, parses, validates and words errors. */
async function openServer(parts: RunMeans): Promise<ApolloServer<ApolloContext>> {
  const { config, persisted, onError } = parts;
  const apollo = new ApolloServer<ApolloContext>({
    gateway: executorSeam(parts),
    introspection: config.introspection,
    hideSchemaDetailsFromClientErrors: !config.introspection,
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
    validationRules: [...limitRules(config), ...(config.introspection ? [] : [noSdl])],
    formatError(formatted, error) {
      const formattedError = formatError(formatted, error, (cause) =>
        onError(cause, 'operation', requestIds.of(error as object)),
      );
      return config.introspection
        ? formattedError
        : { ...formattedError, message: withoutSuggestion(formattedError.message) };
    },
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

/** Leaves execution to the gateway, by Apollo Server's seam for gateways that hand operations on to others. */
function executorSeam({
  schema,
  execution,
}: RunMeans): ApolloServerOptionsWithGateway<ApolloContext>['gateway'] {
  return {
    onSchemaLoadOrUpdate(callback) {
      callback({ apiSchema: schema, coreSupergraphSdl: '' });
      return () => {};
    },
    load: async () => ({
      async executor({ document, request: { operationName, variables }, context }) {
        // Apollo hands on the context that it was given.
        const { run, planned } = (context as ApolloContext).passed;
        // Without a plan, there is nothing to run, and graphql-js says why.
        if (planned === null) return execute({ schema, document, operationName, variableValues: variables });
        await execution.answer(planned, run);
        return { data: null };
      },
    }),
    async stop() {},
  };
}

/** Does the work on an operation beside reading and validating it. */
function runningPlugin(parts: RunMeans): ApolloServerPlugin<ApolloContext> {
  return {
    async requestDidStart({ contextValue: { passed } }) {
      const { run } = passed;
      let explained: Awaited<ReturnType<Execution['explain']>> | null = null;
      return {
        async didResolveOperation({ source = '', document, operation, request }) {
          // There is none if the request names an operation that isn't in its document, although the types say
          // otherwise.
          if (operation === undefined) return;
          const { operationName, variables = {} } = request;
          const valid = { text: source, operationName, document, operation, variables };
          const coerced = variablesFor(valid, run, parts);
          // If they don't fit, graphql-js words the reasons.
          if (coerced === null) return;
          const { caller } = run.context;
          // Parsing and validating take one slice, planning and pricing another, and the beginning a third: the first
          // time, each takes tens of milliseconds. The first turn may be one of the same iteration of the event loop,
          // ahead of its timers.
          await yieldToEventLoop(caller);
          await yieldToEventLoop(caller);
          if (passed.isExplained) explained = await parts.execution.explain(valid, coerced, run);
          else passed.planned = await plannedFor(valid, run, parts);
        },
        async didEncounterErrors({ errors }) {
          for (const error of errors) requestIds.put(error, run.requestId);
        },
        async responseForOperation() {
          if (explained === null) return null;
          const { errors, extensions } = explained;
          return {
            http: { status: 200, headers: new HeaderMap() },
            body: {
              kind: 'single',
              singleResult: { data: null, ...(errors.length > 0 ? { errors } : {}), extensions },
            },
          };
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
          parts.execution.finish(run, operation, errors);
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

/**
 * Checks an operation that was found valid, before it is planned.
 * @returns its variables, coerced; null if they don't fit
 * @throws GraphQLError that says why the operation is refused
 */
function variablesFor(
  { text, document, operation, variables }: ValidOperation,
  { accepts, context }: OperationRun,
  { schema, config }: RunMeans,
): PlannedOperation['variables'] | null {
  if (operation.operation === 'subscription') throw subscribedByPost(schema);
  // It may have been named by its hash, and not known when the terms of its key were looked at.
  const unreadable = context.caller.refusalOf?.(text) ?? null;
  if (unreadable !== null) throw errorOf(unreadable, 400);
  const tooLong = inputRefusal(operation, variables, config.maxListItems);
  if (tooLong !== null) throw tooLong;
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  if (coerced === undefined) return null;
  const nullCondition = mayReadSchema(text) ? nullConditionIn(document, coerced) : null;
  if (nullCondition !== null) throw nullCondition;
  if (contentTypeFor(accepts) === null)
    throw new GraphQLError('The client takes no answer of ours.', { extensions: { code: 'BAD_REQUEST' } });
  return coerced;
}

/** @throws GraphQLError that says why the operation is refused */
async function plannedFor(
  valid: ValidOperation,
  run: OperationRun,
  { operations, execution }: RunMeans,
): Promise<PlannedOperation | null> {
  const { caller } = run.context;
  const planned = operations.prepare(valid, caller.flow !== UNPROVEN).with(valid.variables);
  const refusal = planned && (await execution.refusalOf(planned, run));
  if (refusal !== null) throw refusal;
  await yieldToEventLoop(caller);
  return planned;
}

/** Refuses an operation that may read the schema under a condition that is null: its fields can't be known. */
function nullConditionIn(
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
): GraphQLError | null {
  const name = conditionsOf(document).find((condition) => variables[condition] === null);
  if (name === undefined) return null;
  const message = `Variable "$${name}" stands in a condition (@skip, @include), and may not be null.`;
  return errorOf(new Failure('BAD_USER_INPUT', message), 400);
}

/** Bounds the words of Apollo's answer, and adds the bill of a request that was refused before it ran. */
function worded(body: string, { errors, bill, requestId }: OperationRun): string {
  const isRefused = errors === null && body.startsWith('{');
  if (!isRefused && !body.startsWith('{"errors"')) return body;
  const said: { errors?: GraphQLFormattedError[]; extensions?: unknown } = JSON.parse(body);
  return JSON.stringify({
    ...said,
    ...(said.errors ? { errors: shownErrors(said.errors, requestId) } : {}),
    ...(isRefused ? { extensions: { upstream: bill } } : {}),
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

/** Closes a run. Calls that it asked for and nobody waited for are not sent any more: its bill is shown. */
function close({ deadline, participant, payer }: OperationRun): void {
  participant.leave();
  payer.close();
  deadline.stop();
}

/** Returns null if the operation has no plan yet, or is to be refused. */
async function answerByPlan(
  request: GatewayRequest,
  plain: PlainRequest,
  run: OperationRun,
  parts: RunMeans,
): Promise<GatewayResponse | null> {
  const { execution, answers, config } = parts;
  const { params, contentType } = plain;
  const cachedOperation = parts.operations.find(params, run.context.caller.flow !== UNPROVEN);
  if (
    cachedOperation === undefined ||
    inputRefusal(cachedOperation.operation, params.variables, config.maxListItems) !== null
  )
    return null;
  const planned = cachedOperation.with(params.variables);
  if (planned === null) return null;
  const pricing = execution.refusalOf(planned, run);
  if (pricing !== null && (await pricing) !== null) return null;
  run.onError = params.onError;
  const executed = await execution.answer(planned, run);
  const { status, data, body } = executed;
  const headers = new Map([['content-type', contentType]]);
  setRunHeaders(headers, status, run, parts);
  answers.save(plain, executed, run);
  return tagged(request, params.isPersisted, { status, headers, body }, run.errors, () =>
    entityTag(data, run.onError),
  );
}
