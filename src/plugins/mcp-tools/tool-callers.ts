import type { ComposedGateway } from '../../gateway/plugin.ts';
import { holderOfName } from '../../graphql/request/key-doors.ts';
import type { GatewayRequest } from '../../graphql/request/requests.ts';
import type { GatewayResponse } from '../../graphql/request/responses.ts';
import { errorBody, Failure } from '../../shared/errors.ts';

/**
 * Opens the gateway as callers of tools reach it. Those who bring no key ask in the name of an issued one, if the
 * operator names one for them: within its terms, and out of its budget.
 * @param keyName undefined if each caller has to bring a key
 */
export function openToolCallers(gateway: ComposedGateway, keyName: string | undefined) {
  const { schema } = gateway;
  return {
    schema,
    get trusted() {
      return gateway.persisted.trusted;
    },
    async handle(request: GatewayRequest): Promise<GatewayResponse> {
      if (keyName === undefined || request.headers.authorization !== undefined)
        return gateway.handle(request);
      try {
        return await gateway.handle((await gateway.named(keyName, request)).request);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        const { code, message, fields, retryable } = error;
        const body = errorBody(code, message, { retryable, ...fields, requestId: request.requestId });
        return { status: 200, headers: new Map(), body };
      }
    },
    /**
     * Names the caller that a header stands for, in whichever way it is written.
     * @throws Failure if it is an issued key, and works no more
     */
    async nameOf(authorization: string | undefined): Promise<string> {
      if (keyName !== undefined && authorization === undefined) return holderOfName(keyName);
      return (await gateway.holderOf(authorization)).name;
    },
  };
}
