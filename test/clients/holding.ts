import { parse } from 'graphql';
import { type HoldingOptions, holdFigures } from '../../clients/client/src/figures.ts';
import type { GraphqlError, Program, Reply } from '../support/program.ts';

export interface SentRequest {
  readonly url: string;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface Shown {
  readonly status: number;
  readonly headers: Headers;
  readonly data: Reply['data'];
  readonly errors: readonly GraphqlError[];
  // biome-ignore lint/suspicious/noExplicitAny: tests read extensions of every shape
  readonly extensions: any;
}

/** A page that holds figures of a program, and notes what it sends. */
export function openPage(program: Program, options: Partial<HoldingOptions> = {}) {
  const sent: SentRequest[] = [];
  const page = { isOffline: false };
  const figures = holdFigures({ url: program.url, parse, ...options }, async (input, init) => {
    const body = typeof init?.body === 'string' ? JSON.parse(init.body) : {};
    sent.push({ url: String(input), query: body.query, variables: body.variables ?? {} });
    if (page.isOffline) throw new TypeError('Failed to fetch');
    return fetch(input, init);
  });
  async function ask(
    query: string,
    variables: Readonly<Record<string, unknown>> = {},
    { key = program.sandbox.keys.team as string, headers = {}, ...init }: RequestInit & { key?: string } = {},
  ): Promise<Shown> {
    const response = await figures.fetch(program.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
      body: JSON.stringify({ query, variables }),
      ...init,
    });
    const { data, errors = [], extensions } = (await response.json()) as Shown;
    for (const { extensions: more } of errors as readonly { extensions: Record<string, unknown> }[])
      delete more.requestId;
    return { status: response.status, headers: response.headers, data, errors, extensions };
  }
  return Object.assign(page, {
    figures,
    ask,
    /** What was sent since the last look. */
    sent: () => sent.splice(0),
    [Symbol.dispose]: () => figures.close(),
  });
}
