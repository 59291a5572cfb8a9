import { exchangedSeal } from '../graphql/request/callers.ts';
import { holderOfName } from '../graphql/request/key-doors.ts';
import { createPrices, ownRequest, replyOf } from '../graphql/request/own-requests.ts';
import { ChangedRequest, type GatewayRequest } from '../graphql/request/requests.ts';
import { wholeBody } from '../graphql/request/responses.ts';
import type { Asking, AskingServices } from '../plugin/asking.ts';
import { budgetSeal } from '../service/counted-budget.ts';
import { errorBody, Failure } from '../shared/errors.ts';
import { once } from '../shared/once.ts';
import { namesIn, SOURCES } from '../shared/source-names.ts';
import type { ComposedGateway } from './plugin.ts';

/** Has plugins ask as any client does. */
export function askingOf(gateway: ComposedGateway): AskingServices {
  const { callerOf, enter, handle, holderOf, named, persisted } = gateway;
  const prices = once(() => createPrices(handle));

  async function answerTo(request: GatewayRequest, keyName: string | undefined): Promise<string> {
    const asked = keyName === undefined ? request : (await named(keyName, request)).request;
    return wholeBody((await handle(asked)).body);
  }

  async function ask(body: object, asking: Asking = {}): Promise<string> {
    const { keyName, budget, headers = {}, signal, requestId, address, isCounted = false } = asking;
    const { authorization = null } = headers;
    const exchanged = budget && exchangedSeal.seal({ authorization, budget: budgetSeal.open(budget) });
    const given = { headers, requestId, address, isCounted, exchanged };
    const request = ownRequest(body, signal === undefined ? given : { ...given, signal });
    try {
      return await answerTo(request, keyName);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const { code, message, fields, retryable } = error;
      return errorBody(code, message, { retryable, ...fields, requestId: request.requestId });
    }
  }

  return {
    ask,
    explain: async (body, asking = {}) =>
      replyOf(await ask(body, { ...asking, headers: { ...asking.headers, 'x-explain': '1' } })),
    price: (operation) => prices()(operation),
    holderOf: async (authorization, keyName) =>
      keyName !== undefined && authorization === undefined
        ? { name: holderOfName(keyName), keyName, isUnproven: false, isIssued: true }
        : holderOf(authorization),
    async checkKey(request) {
      await enter(request);
    },
    named,
    async sourceNames(asked) {
      const headers = { ...asked.headers, 'x-offline': '1' };
      // Otherwise a call might be sent.
      if (callerOf(headers).offline === undefined) return new Map();
      const { authorization = null, rights } = asked.exchanged ? exchangedSeal.open(asked.exchanged) : {};
      const exchanged = exchangedSeal.seal({ authorization, rights });
      const body = { documentId: persisted.admit(SOURCES) };
      const response = await handle(new ChangedRequest(asked, { headers, body, exchanged }));
      const names = response.status === 200 ? namesIn(JSON.parse(await wholeBody(response.body)).data) : null;
      return names ?? new Map();
    },
    textOf: ({ body }) => wholeBody(body),
  };
}
