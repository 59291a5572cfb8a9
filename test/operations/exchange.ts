import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Program } from '../support/program.ts';
import { openTimedProgram, type TimedOptions } from '../support/timed-program.ts';

/** A request as it is put on the wire. */
export interface Sent {
  readonly method?: 'GET' | 'POST' | 'QUERY';
  /** The bearer key; null sends none. The team's by default. */
  readonly key?: string | null;
  /** The question: the body of a POST, the search parameters of a GET. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A response as it comes from the wire, nothing decoded. */
export interface Received {
  readonly status: number;
  /** Headers but for `Server-Timing`, which is another each time. */
  readonly headers: IncomingHttpHeaders;
  readonly timing: unknown;
  readonly bytes: Buffer;
  readonly text: string;
}

/** Asks with these headers and no others, under a name of its own that the answer repeats. */
export async function exchange(
  { url, sandbox }: Pick<Program, 'url' | 'sandbox'>,
  { method = 'POST', key = sandbox.keys.team, body, headers = {} }: Sent,
): Promise<Received> {
  const search = new URLSearchParams(
    Object.entries(body).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
  const outgoing = request(method === 'GET' ? `${url}?${search}` : url, {
    method,
    headers: {
      ...(method === 'GET' ? { 'apollo-require-preflight': '1' } : { 'content-type': 'application/json' }),
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      'x-request-id': 'test',
      ...headers,
    },
  });
  outgoing.end(method === 'GET' ? undefined : JSON.stringify(body));
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const bytes = await buffer(response);
  const { 'server-timing': timing, ...others } = response.headers;
  return { status: response.statusCode ?? 0, headers: others, timing, bytes, text: String(bytes) };
}

export async function open({ env, ...options }: TimedOptions = {}) {
  const program = await openTimedProgram({ ...options, env: { UPSTREAM_RETRIES: '0', ...env } });
  return Object.assign(program, {
    /** True for each operation since the last look that was a repeat. */
    repeats: () => program.operations.splice(0).map(({ repeated }) => repeated),
    send: (sent: Sent) => exchange(program, sent),
  });
}
