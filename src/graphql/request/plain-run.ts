import { TURN_MS, yieldToEventLoop } from '../../shared/async/turns.ts';
import { setRunHeaders } from './answer-headers.ts';
import type { AnswersTable } from './answers.ts';
import { UNPROVEN } from './callers.ts';
import { entityTag, tagged } from './entity-tags.ts';
import type { Execution } from './execution.ts';
import { isDeepOperation } from './nesting.ts';
import { extensionsOf, type OperationRun } from './operation-run.ts';
import type { OperationsParts } from './operations-parts.ts';
import type { AskedText } from './persisted.ts';
import type { PlainRequest } from './plain-requests.ts';
import { planToRun } from './planning.ts';
import type { Prepared } from './prepared-operation.ts';
import type { PreparedOperations } from './prepared-operations.ts';
import { readText, rulesOf, type Unreadable } from './reading.ts';
import type { GatewayRequest } from './requests.ts';
import type { GatewayResponse } from './responses.ts';
import { readsSchemaAlone } from './schema-reads.ts';
import { shownErrors } from './shown-errors.ts';
import { statusOf } from './statuses.ts';

/** The means of all stages, and the tables that all operations share. */
export interface RunMeans extends OperationsParts {
  readonly operations: PreparedOperations;
  readonly execution: Execution;
  readonly answers: AnswersTable;
}

/** A document that is ready to be planned. */
interface Ready {
  readonly prepared: Prepared;
  /** False for a text that has come only once: neither it nor its answer is cached. */
  readonly isKept: boolean;
}

/** True of a step that has taken long, as reading a new text may: others have their turns then. */
const isLong = (sinceMs: number) => performance.now() - sinceMs > TURN_MS;

/**
 * Answers plain requests. A text is parsed, validated and planned at once, and from its second use on its plan is cached.
 * Null leaves a request to Apollo Server: a text that nests too deep, or one that asks for no query.
 */
export function createPlainRun(parts: RunMeans) {
  const { schema, config, operations, execution, answers } = parts;
  const rules = rulesOf(config);

  function ready({ text, operationName }: AskedText, isProven: boolean): Ready | Unreadable | null {
    const prepared = operations.find({ text, operationName }, isProven);
    if (prepared !== undefined) return { prepared, isKept: true };
    if (isDeepOperation(text)) return null;
    const read = readText({ text, operationName }, schema, config, rules);
    if ('errors' in read) return read;
    if (read.operation.operation !== 'query') return null;
    return operations.prepare({ text, operationName, ...read }, isProven);
  }

  function refused(
    { errors, operation = null }: Unreadable,
    { contentType }: PlainRequest,
    run: OperationRun,
  ): GatewayResponse {
    const { accepts, requestId } = run;
    const formatted = errors.map((error) => execution.format(error, requestId));
    execution.finish(run, operation, formatted);
    const about = { accepts, errors: formatted, data: () => null, operation, hadOperation: true };
    const status = statusOf(about, 400);
    const headers = new Map([['content-type', contentType]]);
    setRunHeaders(headers, status, run, parts);
    const body = JSON.stringify({
      errors: shownErrors(formatted, requestId),
      extensions: extensionsOf(run),
    });
    return { status, headers, body };
  }

  return async (
    request: GatewayRequest,
    plain: PlainRequest,
    run: OperationRun,
  ): Promise<GatewayResponse | null> => {
    const { params, contentType, mayReadSchema } = plain;
    const { caller } = run.context;
    const startedMs = performance.now();
    const found = ready(params, caller.flow !== UNPROVEN);
    if (found === null) return null;
    run.onError = params.onError;
    if ('errors' in found) return refused(found, plain, run);
    const { prepared, isKept } = found;
    if (isLong(startedMs)) await yieldToEventLoop(caller);
    const planning = planToRun({ text: params.text, prepared, variables: params.variables }, run, parts);
    const planned = planning instanceof Promise ? await planning : planning;
    if ('errors' in planned) return refused({ ...planned, operation: prepared.operation }, plain, run);
    const answer = await execution.answer(planned, run);
    const { status, data, body } = answer;
    const headers = new Map([['content-type', contentType]]);
    setRunHeaders(headers, status, run, parts);
    if (isKept || (mayReadSchema && readsSchemaAlone(answer.operation))) answers.save(plain, answer, run);
    return tagged(request, params.isPersisted, { status, headers, body }, run.errors, () =>
      entityTag(data, run.onError),
    );
  };
}
