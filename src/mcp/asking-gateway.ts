import type { CancelSignal } from '../async/cancellation.ts';
import { parseExactly } from '../exact-json.ts';
import type { Gateway } from '../gateway.ts';
import { wholeBody } from '../operations/responses.ts';
import { type Bill, openBill } from '../upstream/call.ts';
import { isObject } from '../upstream/records/fields.ts';
import type { OperationTool } from './operation-tools.ts';

/** One question to the gateway. */
export interface ToolQuestion {
  readonly tool: OperationTool;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Headers beside those that each question has. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: CancelSignal;
  readonly requestId?: string | undefined;
}

/** An error of an answer, as a tool tells it. */
export interface ReplyFault {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** An answer of the gateway. */
export interface GraphqlReply {
  readonly data?: unknown;
  readonly errors: readonly ReplyFault[];
  readonly extensions?: {
    readonly upstream?: Bill;
    readonly warnings?: readonly unknown[];
    readonly explain?: {
      readonly least: number;
      readonly calls: number;
      readonly most: number;
      readonly limit: number;
    };
  };
}

/** Has the gateway run a tool's operation, as any client would. */
export async function asked(
  { handle }: Pick<Gateway, 'handle'>,
  { tool: { documentId, operationName }, variables, headers, signal, requestId }: ToolQuestion,
): Promise<string> {
  const { body } = await handle({
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    search: '',
    body: { documentId, operationName, variables },
    signal,
    requestId,
  });
  return wholeBody(body);
}

export function replyOf(body: string): GraphqlReply {
  const reply = parseExactly(body);
  if (!isReply(reply)) throw new Error('The gateway has answered a tool with something else than an answer.');
  return { ...reply, errors: reply.errors ?? [] };
}

/** Reads the end of an answer that is too long to be read whole. */
export function endOf(body: string): GraphqlReply {
  const name = '"extensions":';
  const at = body.lastIndexOf(name);
  const extensions: unknown = at < 0 ? {} : JSON.parse(body.slice(at + name.length, -1));
  return replyOf(JSON.stringify({ data: null, extensions }));
}

/** Takes the gateway's own words for an answer: their shape is not in question. */
function isReply(reply: unknown): reply is Omit<GraphqlReply, 'errors'> & Partial<GraphqlReply> {
  return isObject(reply);
}

/** Returns the bill of an answer; an empty one if it has none. */
export function billOf({ extensions }: GraphqlReply): Bill {
  return extensions?.upstream ?? openBill();
}
