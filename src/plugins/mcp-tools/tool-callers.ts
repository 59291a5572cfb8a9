import type { ComposedGateway } from '../../gateway/plugin.ts';
import { holderOfName } from '../../graphql/request/key-doors.ts';
import { errorBody, Failure, type GatewayRequest, type GatewayResponse } from '../../plugin/index.ts';

/** @param keyName issued key under which callers without a key ask; undefined if each has to bring one */
export function openToolCallers(gateway: ComposedGateway, keyName: string | undefined) {
  const { schema, config } = gateway;
  return {
    schema,
    attribution: config.attribution,
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
    /** @throws Failure if it is an issued key that no longer works */
    async nameOf(authorization: string | undefined): Promise<string> {
      if (keyName !== undefined && authorization === undefined) return holderOfName(keyName);
      return (await gateway.holderOf(authorization)).name;
    },
  };
}
