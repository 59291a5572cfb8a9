import type { ProvenKeys } from '../cache/proven.ts';
import { listRefusal } from '../graph/limits.ts';
import { setRunHeaders } from './answer-headers.ts';
import type { Execution } from './execution.ts';
import type { OperationRun } from './operation-run.ts';
import type { HandleRun } from './pipeline.ts';
import type { PlainRequest } from './plain-requests.ts';
import type { Prepared, PreparedOperations } from './prepared.ts';
import type { AnswerKeeping } from './repeated.ts';
import type { GatewayRequest, OperationParams } from './requests.ts';
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

/** Runs operations that were found valid before by their plans; leaves the rest to the next stage. */
export function prepared(next: HandleRun, parts: PreparedParts): HandleRun {
  const { execution, keeping, maxListItems } = parts;

  /** Null where Apollo has to see the request. */
  async function answer(
    request: GatewayRequest,
    { params, contentType }: PlainRequest,
    run: OperationRun,
  ): Promise<GatewayResponse | null> {
    const known = preparedFor(params, run, parts);
    if (known === undefined || listRefusal(known.operation, params.variables, maxListItems) !== null)
      return null;
    const planned = known.with(params.variables);
    if (planned === null) return null;
    const { variables, bound, plan } = planned;
    const refusing = execution.refusalOf(planned.prepared, variables, bound, plan, run);
    if ((refusing instanceof Promise ? await refusing : refusing) !== null) return null;
    const executed = await execution.answer(planned, run);
    const { status, data, body } = executed;
    const headers = new Map([['content-type', contentType]]);
    setRunHeaders(headers, status, run, parts);
    keeping.keep(params, executed, run);
    return tagged(request, params.isPersisted, { status, headers, body }, run.errors, () => entityTag(data));
  }

  return async (incoming, run) => {
    const { request, plain } = incoming;
    return (plain && (await answer(request, plain, run))) ?? next(incoming, run);
  };
}

/** The operation that a request asks for, where it was found valid before. */
export function preparedFor(
  { text, operationName }: OperationParams,
  { context: { caller } }: OperationRun,
  { operations, proven }: Pick<PreparedParts, 'operations' | 'proven'>,
): Prepared | undefined {
  return operations.find(text, operationName, proven.has(caller.keyDigest));
}
