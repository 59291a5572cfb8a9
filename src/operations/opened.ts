import type { OpenRun, OperationRun } from './operation-run.ts';
import { type HandleRun, type Incoming, onceOver } from './pipeline.ts';
import type { GatewayResponse } from './responses.ts';

/** The response to an operation, and its run. */
export interface RanOperation {
  readonly response: GatewayResponse;
  readonly run: OperationRun;
}

/** Opens the run of an operation, and closes it once all of the answer is there. */
export function opened(
  next: HandleRun,
  { openRun }: { readonly openRun: OpenRun },
): (incoming: Incoming) => Promise<RanOperation> {
  return async (incoming) => {
    const { request, caller, trace, delivery } = incoming;
    const run = openRun(request, caller, trace, delivery);
    try {
      return { response: await next(incoming, run), run };
    } finally {
      onceOver(delivery, () => close(run));
    }
  };
}

/** Closes a run. Calls that it asked for and nobody waited for are not sent any more: its bill is shown. */
function close({ deadline, participant, payer }: OperationRun): void {
  deadline.stop();
  participant.leave();
  payer.close();
}
