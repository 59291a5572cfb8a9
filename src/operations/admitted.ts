import { mapValue } from '../async/promise-or-value.ts';
import type { Caller } from '../upstream/call.ts';
import type { Admission } from './admission.ts';
import type { OpenRun, OperationRun } from './operation-run.ts';
import type { Handle, HandleRun, Incoming } from './pipeline.ts';
import type { GatewayResponse } from './responses.ts';

export interface AdmittedParts {
  readonly admission: Admission;
  /** The answer to operations that are refused unseen. */
  readonly overloaded: (accepts: string, requestId?: string) => GatewayResponse;
  readonly openRun: OpenRun;
}

/** Opens the run of an operation once it may begin, and closes it; answers those that may not that the gateway is overloaded. */
export function admitted(next: HandleRun, { admission, overloaded, openRun }: AdmittedParts): Handle {
  async function runOf(incoming: Incoming): Promise<GatewayResponse> {
    const { request, caller, trace, delivery } = incoming;
    let run: OperationRun | null = null;
    try {
      run = openRun(request, caller, trace, delivery);
      return await next(incoming, run);
    } finally {
      const over = run?.delivery?.over ?? null;
      if (over === null) close(run, caller);
      else void over.finally(() => close(run, caller));
    }
  }

  function close(run: OperationRun | null, { flow }: Caller): void {
    run?.deadline.stop();
    run?.participant.leave();
    admission.leave(flow);
  }

  return (incoming) => {
    const { request, caller } = incoming;
    return mapValue(admission.enter(caller.flow, request), (refusal) =>
      refusal === null ? runOf(incoming) : overloaded(request.headers.accept ?? '', request.requestId),
    );
  };
}
