import { mapValue } from '../async/promise-or-value.ts';
import type { Admission } from './admission.ts';
import { type Handle, type Incoming, onceOver } from './pipeline.ts';
import type { GatewayResponse } from './responses.ts';

export interface AdmittedParts {
  readonly admission: Admission;
  /** Answers operations that are refused unseen. */
  readonly overloaded: (accepts: string, requestId?: string) => GatewayResponse;
}

/** Lets operations on once they may begin, and answers the others that the gateway is overloaded. */
export function admitted(next: Handle, { admission, overloaded }: AdmittedParts): Handle {
  async function answer(incoming: Incoming): Promise<GatewayResponse> {
    const { caller, delivery } = incoming;
    try {
      return await next(incoming);
    } finally {
      onceOver(delivery, () => admission.leave(caller.flow));
    }
  }

  return (incoming) => {
    const { request, caller } = incoming;
    return mapValue(admission.enter(caller.flow, request), (refusal) =>
      refusal === null ? answer(incoming) : overloaded(request.headers.accept ?? '', request.requestId),
    );
  };
}
