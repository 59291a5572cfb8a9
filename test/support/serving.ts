import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { afterEach } from 'vitest';

export interface ServingOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeArgs?: readonly string[];
  /** Arguments of the command `serve`. */
  readonly args?: readonly string[];
  /** True to collect standard error for the test, instead of printing it. */
  readonly isLogKept?: boolean;
  /** The program's file; that of the checkout by default. */
  readonly bin?: string;
  readonly node?: string | undefined;
  readonly cwd?: string;
}

/** The program's sources, for tests of which of them are loaded. */
export const SOURCES = 'src/cli/main.ts';

export interface Serving {
  readonly child: ChildProcess;
  readonly url: string;
  /** Standard error so far, if it is collected. */
  readonly errors: () => string;
  /** Standard output until it accepted requests. */
  readonly printed: () => string;
}

/** Starts the program as a user does, in a separate process on a free port. The caller has to end it. */
export async function startServing({
  env = {},
  nodeArgs = [],
  args = [],
  isLogKept = false,
  bin = 'bin/country-graph.cjs',
  node = process.execPath,
  cwd,
}: ServingOptions): Promise<Serving> {
  const child = spawn(node, [...nodeArgs, bin, 'serve', ...args], {
    cwd,
    env: { PATH: process.env.PATH, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', isLogKept ? 'pipe' : 'inherit'],
  });
  let errors = '';
  child.stderr?.on('data', (chunk) => {
    errors += chunk;
  });
  const ended = once(child, 'exit');
  let text = '';
  while (child.exitCode === null && child.signalCode === null) {
    const [chunk] = await Promise.race([once(child.stdout as Readable, 'data'), ended]);
    text += chunk;
    const url = /http:\/\/\S+\/graphql(?=\s)/.exec(text)?.[0];
    if (url === undefined) continue;
    child.stdout?.resume();
    return { child, url, errors: () => errors, printed: () => text };
  }
  throw new Error(`The program exited before it listened: ${text}${errors}`);
}

/** Starts programs for a suite; they are killed after each test. */
export function servingStarter(defaults: ServingOptions) {
  const running: ChildProcess[] = [];
  afterEach(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL');
  });
  return async (env: Readonly<Record<string, string>> = {}): Promise<Serving> => {
    const serving = await startServing({ ...defaults, env: { ...defaults.env, ...env } });
    running.push(serving.child);
    return serving;
  };
}
