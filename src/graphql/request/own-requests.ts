import { isObject } from '../../service/records/envelope.ts';
import { parseExactly } from '../../shared/exact-json.ts';
import type { GatewayRequest } from './requests.ts';
import { wholeBody } from './responses.ts';
import type { HandleRequest } from './stages.ts';

/** Makes a request by which a part of the program asks as any client does. */
export function ownRequest(
  body: object,
  { headers, signal = new AbortController().signal, ...given }: Partial<GatewayRequest> = {},
): GatewayRequest {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    search: '',
    body,
    signal,
    ...given,
  };
}

interface ReplyError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** The calls that an operation is expected to take, by route; it takes no fewer and no more than is said. */
interface Explained {
  readonly calls: number;
  readonly least: number;
  readonly most: number;
  /** Calls beyond which an operation is refused. */
  readonly limit: number;
  readonly byRoute: Readonly<Record<string, number>>;
  readonly cached: number;
}

/** An answer of the gateway, whose shape is not in question. */
export interface OwnReply {
  readonly data?: unknown;
  readonly errors: readonly ReplyError[];
  readonly extensions: {
    readonly explain?: Explained;
    readonly [name: string]: unknown;
  };
}

/** Reads an answer of the gateway, and keeps all digits of its numbers. */
export function replyOf(body: string): OwnReply {
  const reply = parseExactly(body);
  if (!isObject(reply)) throw new Error('The gateway has answered with something else than an answer.');
  return { errors: [], extensions: {}, ...reply };
}

/** Asks what an operation would take by the key of the request: nothing is sent. */
export async function explained(
  handle: HandleRequest,
  body: object,
  given: Partial<GatewayRequest> = {},
): Promise<OwnReply> {
  const headers = { ...given.headers, 'x-explain': '1' };
  return replyOf(await wholeBody((await handle(ownRequest(body, { ...given, headers }))).body));
}

/** A made-up key: nothing is cached for it, so that a price is the same for all. */
export const PRICING_KEY = 'Bearer price';

/** An operation that is offered to others, with values of the variables that have to be given. */
interface OfferedOperation {
  readonly documentId: string;
  readonly operationName: string | undefined;
  readonly sample: Readonly<Record<string, unknown>>;
}

/**
 * Prices operations as they are where nothing is cached, each once.
 * @returns a function that returns null if a price depends on the values of variables
 */
export function createPrices(handle: HandleRequest) {
  const prices = new WeakMap<OfferedOperation, ReturnType<typeof priceOf>>();

  async function priceOf(operation: OfferedOperation) {
    const { documentId, operationName, sample: variables } = operation;
    const headers = { authorization: PRICING_KEY };
    const { errors, extensions } = await explained(
      handle,
      { documentId, operationName, variables },
      { headers },
    );
    // A price that can't be known for want of room is asked for again.
    if (errors.some(({ extensions }) => extensions?.retryable === true)) prices.delete(operation);
    const { explain } = extensions;
    if (explain === undefined || errors.length > 0) return null;
    const { least, calls: expected, most, limit } = explain;
    return { least, expected, most, limit };
  }

  return (operation: OfferedOperation) => {
    const cachedPrice = prices.get(operation);
    if (cachedPrice !== undefined) return cachedPrice;
    const price = priceOf(operation);
    prices.set(operation, price);
    price.catch(() => prices.delete(operation));
    return price;
  };
}

export type OperationPrice = Awaited<ReturnType<ReturnType<typeof createPrices>>>;
