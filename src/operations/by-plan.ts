import type { ProvenKeys } from '../cache/proven.ts';
import { listRefusal } from '../graph/limits.ts';
import { setRunHeaders } from './answer-headers.ts';
import type { Execution } from './execution.ts';
import type { OperationRun } from './operation-run.ts';
import type { HandleRun, Incoming } from './pipeline.ts';
import type { PlainRequest } from './plain-requests.ts';
import type { Prepared, PreparedOperations } from './prepared.ts';
import type { AnswerKeeping } from './repeated.ts';
import type { OperationParams } from './requests.ts';
import { entityTag, type GatewayResponse, tagged } from './responses.ts';

export interface PreparedParts {
  readonly operations: PreparedOperations;
  readonly proven: Pick<ProvenKeys, 'has'>;
  readonly execution: Execution;
  readonly keeping: AnswerKeeping;
  readonly maxListItems: number;
  readonly now: () => number;
  readonly steadyNow: () => number;
}

/** Runs operations that were found valid before by their plans, and leaves the rest to the next stage. */
export function prepared(next: HandleRun, parts: PreparedParts): HandleRun {
  const { execution, keeping, maxListItems } = parts;

  async function answer(
    incoming: Incoming,
    { params, contentType }: PlainRequest,
    run: OperationRun,
  ): Promise<GatewayResponse> {
    const { request } = incoming;
    const known = preparedFor(params, run, parts);
    if (known === undefined || listRefusal(known.operation, params.variables, maxListItems) !== null)
      return next(incoming, run);
    const planned = known.with(params.variables);
    if (planned === null) return next(incoming, run);
    const { variables, bound, plan } = planned;
    const refusing = execution.refusalOf(planned.prepared, variables, bound, plan, run);
    const refusal = refusing instanceof Promise ? await refusing : refusing;
    if (refusal !== null) return next(incoming, run);
    const executed = await execution.answer(planned, run);
    const { status, data, body } = executed;
    const headers = new Map([['content-type', contentType]]);
    setRunHeaders(headers, status, run, parts);
    keeping.keep(params, executed, run);
    return tagged(request, params.isPersisted, { status, headers, body }, run.errors, () => entityTag(data));
  }

  return (incoming, run) =>
    incoming.plain === null ? next(incoming, run) : answer(incoming, incoming.plain, run);
}

/** Finds the operation that a request asks for, if it was found valid before. */
export function preparedFor(
  { text, operationName }: OperationParams,
  { context: { caller } }: OperationRun,
  { operations, proven }: Pick<PreparedParts, 'operations' | 'proven'>,
): Prepared | undefined {
  return operations.find(text, operationName, proven.has(caller.keyDigest));
}
