import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { openProgram, type Program, type ProgramOptions } from '../support/program.ts';

/** Codes that callers can have as a type, but for the one that says that the gateway is at fault. */
export const CODES: ReadonlySet<unknown> = new Set(
  (readFileSync('schema/errors.graphql', 'utf8').match(/^ {2}[A-Z_]+$/gm) ?? [])
    .map((line) => line.trim())
    .filter((code) => code !== 'INTERNAL_SERVER_ERROR'),
);

export interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly body: any;
  readonly text: string;
  readonly codes: readonly string[];
}

/**
 * Bounds of held things, so that a heap that grows beyond them is a leak; and no time spent on waiting for
 * others.
 */
const ENV = { CACHE_MAX_BYTES: '4194304', ANSWERS_MAX_BYTES: '4194304', BATCH_WINDOW_MS: '0' };

/** A program whose service lets everything through, with its faults. */
export async function openFuzzed(options: ProgramOptions = {}) {
  const rejections: unknown[] = [];
  const onRejection = (reason: unknown) => void rejections.push(reason);
  process.on('unhandledRejection', onRejection);
  const plans = { team: { requestsPerMinute: 1e9, monthlyRequests: 1e12 } };
  const env = { CACHE_URL: 'memory:', ...ENV, ...options.env };
  const program: Program = await openProgram({ ...options, env, sandbox: { plans } });

  return {
    program,
    /** Checks faults that are told to nobody that asks, too. */
    expectSound(shown: string): void {
      expect([program.problems, rejections], shown).toEqual([[], []]);
      program.operations.length = 0;
    },
    /** Sends a request, and checks the promises for every answer. */
    async send(search: string, init: RequestInit, shown = ''): Promise<Answered> {
      const response = await fetch(program.url + search, {
        ...init,
        redirect: 'manual',
        headers: {
          accept: 'application/graphql-response+json, application/json;q=0.9',
          authorization: `Bearer ${program.sandbox.keys.team}`,
          ...init.headers,
        },
      });
      const text = await response.text();
      const what = shown === '' ? text : `${shown}\n${text.slice(0, 2_000)}`;
      const body = JSON.parse(text);
      expect(response.status, what).toBeLessThan(500);
      // A list of operations is answered by a list.
      const codes = [body].flat().flatMap((answer) => expectAnswer(answer, what));
      this.expectSound(what);
      return { status: response.status, body, text, codes };
    },
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      process.off('unhandledRejection', onRejection);
    },
  };
}

/** @returns the codes of its errors */
function expectAnswer(answer: Answered['body'], what: string): string[] {
  const errors: { message: unknown; extensions: { code: string } }[] = answer.errors ?? [];
  expect(Array.isArray(errors), what).toBe(true);
  for (const { message, extensions } of errors) {
    if (typeof message !== 'string' || !CODES.has(extensions?.code)) expect.fail(what);
  }
  expect(answer.data !== undefined || errors.length > 0, what).toBe(true);
  return errors.map(({ extensions }) => extensions.code);
}

export type Fuzzed = Awaited<ReturnType<typeof openFuzzed>>;

/** The body of a request, and that it is JSON. */
export function posted(body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}
