import { HeaderMap } from '@apollo/server';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getVariableValues,
  type OperationDefinitionNode,
} from 'graphql';
import { yieldToEventLoop } from '../async/yielding.ts';
import type { Config } from '../config.ts';
import { fragmentsIn } from '../execution/plan.ts';
import type { GraphContext } from '../graph/context.ts';
import { listRefusal } from '../graph/limits.ts';
import { leadsToFigures, type SelectionScope } from '../graph/selection.ts';
import { boundOf } from '../pricing/bound.ts';
import { MAX_NESTING } from '../upstream/nesting.ts';
import { type ApolloParts, type Course, createApollo } from './apollo.ts';
import { type PreparedParts, preparedFor } from './by-plan.ts';
import { isDeepRequest } from './nesting.ts';
import { extensionsOf, type OperationRun, shown } from './operation-run.ts';
import type { HandleRun } from './pipeline.ts';
import type { PlainRequests } from './plain-requests.ts';
import { forApollo, hasText } from './requests.ts';
import { entityTag, type GatewayResponse, mayAccept, setHeaders, statusOf, tagged } from './responses.ts';
import { readsSchemaAlone } from './schema-answers.ts';
import { toldErrors } from './told-errors.ts';

export interface ByApolloParts extends PreparedParts, Pick<ApolloParts<object>, 'persisted' | 'onFault'> {
  readonly schema: GraphQLSchema;
  readonly config: Config;
  readonly plainRequests: PlainRequests;
}

interface ApolloContext extends GraphContext {
  readonly run: OperationRun;
}

const NOT_ACCEPTABLE = { extensions: { code: 'BAD_REQUEST' } };

/** Characters of operations that take milliseconds to read. */
const LONG_TEXT = 4_000;

/** The last stage: Apollo Server reads, validates and answers a request. */
export async function byApollo(
  parts: ByApolloParts,
): Promise<{ readonly handle: HandleRun; stop(): Promise<void> }> {
  const { schema, config, persisted, onFault, keeping, plainRequests, now } = parts;
  const apollo = await createApollo<ApolloContext>({
    schema,
    config,
    persisted,
    onFault,
    course: courseOf(parts),
  });

  const handle: HandleRun = async ({ request, plain }, run) => {
    if (isDeepRequest(request)) return refuseDeep(run, now());
    const told = forApollo(request, persisted);
    const admitted = await apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: {
        method: told.method,
        headers: new HeaderMap(Object.entries(told.headers)),
        search: told.search,
        body: told.body,
      },
      context: async () => ({ ...run.context, isByGraphqlJs: true, run }),
    });
    const { status = 200, headers, body } = admitted;
    // What the client can't take is not sent, though it may have been made.
    const isTaken = status !== 406;
    const answer = isTaken ? run.answer : null;
    if (!isTaken) run.errors = null;
    setHeaders(headers, answer?.status ?? status, run.errors, now());
    const isOfSchema = run.isOfSchema && status === 200 && run.errors?.length === 0;
    if (answer !== null || isOfSchema) plainRequests.learn(run.accepts, headers.get('content-type') ?? '');
    if (answer === null) {
      const text = body.kind === 'complete' ? worded(body.string, run, parts) : body.asyncIterator;
      if (isOfSchema && plain !== null && typeof text === 'string')
        keeping.keepOfSchema(plain.asked, text, run);
      return { status, headers, body: text };
    }
    // What has come but once is not kept, and neither is its answer.
    if (plain !== null && preparedFor(plain.asked, run, parts) !== undefined)
      keeping.keep(plain.asked, answer, run);
    const response = { status: answer.status, headers, body: answer.body };
    return tagged(request, !hasText(request), response, run.errors, () => entityTag(answer.data));
  };
  return { handle, stop: () => apollo.stop() };
}

/** What happens to operations that Apollo Server has found valid. */
function courseOf(parts: ByApolloParts): Course<ApolloContext> {
  const { schema, config, operations, proven, execution } = parts;
  return {
    async answer(admitted, { run }) {
      const { text, operationName, document, operation, variables } = admitted;
      const tooLong = listRefusal(operation, variables, config.maxListItems);
      if (tooLong !== null) throw tooLong;
      const scope = scopeOf(schema, document, operation, variables);
      // Where the variables don't fit, execution says so.
      if (scope === null) return 'execute';
      run.isOfSchema = readsSchemaAlone(operation);
      if (!mayAccept(run.accepts))
        throw new GraphQLError('The client takes no answer of ours.', NOT_ACCEPTABLE);
      const { variableValues } = scope;
      const { caller } = run.context;
      // What was parsed and validated in one go is planned in another.
      if (text.length > LONG_TEXT) await yieldToEventLoop(caller);
      if (run.isExplained) return execution.explain(admitted, variableValues, run);
      const ready = operations
        .prepare(text, operationName, document, operation, proven.has(caller.keyDigest))
        .with(variables);
      const bound = ready?.bound ?? boundOf(schema, operation, scope);
      const refusal = await execution.refusalOf(admitted, variableValues, bound, ready?.plan ?? null, run);
      if (refusal !== null) throw refusal;
      if (ready !== null) {
        run.answer = await execution.execute(ready, run);
        return 'done';
      }
      const root = schema.getRootType(operation.operation);
      if (root && leadsToFigures(root, operation.selectionSet, scope)) run.seat.expect();
      return 'execute';
    },
    complete({ operation, errors, data, status, hadOperation }, { run }) {
      execution.finish(run, operation, errors);
      return {
        status: statusOf(run.accepts, status, errors, () => data, hadOperation),
        extensions: { ...extensionsOf(run) },
      };
    },
  };
}

/**
 * What Apollo answers, in words that are bounded. A request that was refused before it was an operation has cost
 * nothing, and says so like any other.
 */
function worded(
  body: string,
  { errors, bill }: OperationRun,
  { execution }: Pick<ByApolloParts, 'execution'>,
): string {
  const tooLong = execution.tooLong(body);
  if (tooLong !== null)
    return JSON.stringify({ errors: [tooLong], data: null, extensions: { upstream: shown(bill) } });
  const isRefused = errors === null && body.startsWith('{');
  if (!isRefused && !body.startsWith('{"errors"')) return body;
  const said: { errors?: GraphQLFormattedError[]; extensions?: unknown } = JSON.parse(body);
  return JSON.stringify({
    ...said,
    ...(said.errors ? { errors: toldErrors(said.errors) } : {}),
    ...(isRefused ? { extensions: { upstream: bill } } : {}),
  });
}

function refuseDeep({ accepts, bill }: OperationRun, nowMs: number): GatewayResponse {
  const extensions = { code: 'BAD_REQUEST', retryable: false };
  const errors = [{ message: `The request is nested more than ${MAX_NESTING} levels deep.`, extensions }];
  const type = accepts.includes('graphql-response') ? 'graphql-response+json' : 'json';
  const headers = new Map([['content-type', `application/${type}; charset=utf-8`]]);
  setHeaders(headers, 400, errors, nowMs);
  return { status: 400, headers, body: JSON.stringify({ errors, extensions: { upstream: bill } }) };
}

/** What a look at an operation's selections needs; null where its variables don't fit. */
function scopeOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): SelectionScope | null {
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  return coerced === undefined ? null : { schema, fragments: fragmentsIn(document), variableValues: coerced };
}
