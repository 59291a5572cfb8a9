import { exchangedSeal } from '../graphql/request/callers.ts';
import { holderOfName } from '../graphql/request/key-doors.ts';
import { createPrices, ownRequest, replyOf } from '../graphql/request/own-requests.ts';
import type { GatewayRequest } from '../graphql/request/requests.ts';
import { wholeBody } from '../graphql/request/responses.ts';
import type { Asking, AskingServices } from '../plugin/asking.ts';
import { budgetSeal } from '../service/counted-budget.ts';
import { errorBody, Failure } from '../shared/errors.ts';
import { once } from '../shared/once.ts';
import type { ComposedGateway } from './plugin.ts';

/** Has plugins ask as any client does. */
export function askingOf({
  handle,
  holderOf,
  named,
}: Pick<ComposedGateway, 'handle' | 'holderOf' | 'named'>): AskingServices {
  const prices = once(() => createPrices(handle));

  async function answerTo(request: GatewayRequest, keyName: string | undefined): Promise<string> {
    const asked = keyName === undefined ? request : (await named(keyName, request)).request;
    return wholeBody((await handle(asked)).body);
  }

  async function ask(body: object, { keyName, budget, ...given }: Asking = {}): Promise<string> {
    const authorization = given.headers?.authorization ?? null;
    const exchanged = budget && exchangedSeal.seal({ authorization, budget: budgetSeal.open(budget) });
    const request = ownRequest(body, { ...given, exchanged });
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
        ? { name: holderOfName(keyName), isUnproven: false, isIssued: true }
        : holderOf(authorization),
  };
}
