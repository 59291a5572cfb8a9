import { isObject, parseExactly } from '../../shared/exact-json.ts';
import type { GatewayRequest } from './requests.ts';
import { wholeBody } from './responses.ts';
import type { HandleRequest } from './stages.ts';

/** For parts of the program that ask as any client does. */
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

/** The expected calls of an operation, and the bounds that they lie within. */
export interface Explained {
  readonly calls: number;
  readonly least: number;
  readonly most: number;
  /** Calls beyond which an operation is refused. */
  readonly limit: number;
  readonly byRoute: Readonly<Record<string, number>>;
  readonly cached: number;
  readonly naive: number;
  readonly plan: readonly { readonly route: string; readonly target: string; readonly cached: boolean }[];
}

export interface OwnReply {
  readonly data?: unknown;
  readonly errors: readonly ReplyError[];
  readonly extensions: {
    readonly explain?: Explained;
    readonly [name: string]: unknown;
  };
}

/** Keeps all digits of numbers. */
export function replyOf(body: string): OwnReply {
  const reply = parseExactly(body);
  if (!isObject(reply)) throw new Error('The gateway has answered with something else than an answer.');
  return { errors: [], extensions: {}, ...reply };
}

/** Prices an operation under the key of the request: nothing is sent. */
export async function explained(
  handle: HandleRequest,
  body: object,
  given: Partial<GatewayRequest> = {},
): Promise<OwnReply> {
  const headers = { ...given.headers, 'x-explain': '1' };
  return replyOf(await wholeBody((await handle(ownRequest(body, { ...given, headers }))).body));
}

/** The price that a reply tells; null for an operation that would be refused, as its errors say. */
export function priceIn({ errors, extensions: { explain } }: OwnReply): Explained | null {
  return errors.length > 0 ? null : (explain ?? null);
}

/** Nothing is cached for a made-up key, so a price is the same for all. */
export const PRICING_KEY = 'Bearer price';

/** With values for required variables. */
export interface OfferedOperation {
  readonly documentId: string;
  readonly operationName: string | undefined;
  readonly sample: Readonly<Record<string, unknown>>;
}

/**
 * Prices operations once each, with nothing cached.
 * @returns a function that returns null if a price depends on the values of variables
 */
export function createPrices(handle: HandleRequest) {
  const prices = new WeakMap<OfferedOperation, ReturnType<typeof priceOf>>();

  async function priceOf(operation: OfferedOperation) {
    const { documentId, operationName, sample: variables } = operation;
    const headers = { authorization: PRICING_KEY };
    const reply = await explained(handle, { documentId, operationName, variables }, { headers });
    // A price that failed for want of capacity is asked for again.
    if (reply.errors.some(({ extensions }) => extensions?.retryable === true)) prices.delete(operation);
    const price = priceIn(reply);
    if (price === null) return null;
    const { least, calls: expected, most, limit } = price;
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
