import DataLoader from 'dataloader';
import type { Ask } from '../../service/cached-lists.ts';
import { type Endpoint, makeCall } from '../../service/call.ts';
import type { Sending } from '../../service/sending.ts';
import { Failure } from '../../shared/errors.ts';
import type { CallOrder } from './call-order.ts';

/** Asks for each answer once, however many want it. */
export function createEndpointLoader(ask: Ask, sending: Sending, order: CallOrder) {
  // biome-ignore lint/suspicious/noExplicitAny: each endpoint has parameters and results of its own
  const loaders = new Map<unknown, DataLoader<any, any, string>>();

  function loaderOf<Params, Result>(endpoint: Endpoint<Params, Result>) {
    let loader: DataLoader<Params, Result | null, string> | undefined = loaders.get(endpoint);
    loader ??= new DataLoader(
      async (asked) => {
        const turn = order.turnOfRecords();
        if (turn !== undefined) await turn;
        return Promise.all(
          asked
            .map(async (params) => ask(endpoint, params, sending))
            .map((answered) => answered.catch(asError)),
        );
      },
      { cacheKeyFn: (params) => makeCall(endpoint, params).target },
    );
    loaders.set(endpoint, loader);
    return loader;
  }

  /** Null if there is no such record. */
  return <Params, Result>(endpoint: Endpoint<Params, Result>, params: Params): Promise<Result | null> => {
    sending.bill.naive += 1;
    return loaderOf(endpoint).load(params);
  };
}

/** DataLoader takes only an Error for a failed key. */
function asError(error: unknown): Error {
  return error instanceof Error
    ? error
    : new Failure('UPSTREAM_UNAVAILABLE', 'The call was given up.', {}, { cause: error });
}
