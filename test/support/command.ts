import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { buffer, text } from 'node:stream/consumers';

/** Outcome of one run of a command. */
export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

export interface Running {
  readonly env?: Readonly<Record<string, string>>;
  /** Text for its standard input, which is empty otherwise. */
  readonly input?: string;
  /** A Node other than that of the tests. */
  readonly node?: string;
  /** The program's file; that of the checkout if none is given. */
  readonly bin?: string;
}

/** Runs a command of the program as a user does, in a process of its own. */
export async function runCommand(
  args: readonly string[],
  { env = {}, input = '', node = process.execPath, bin = 'bin/country-graph.cjs' }: Running = {},
): Promise<Ran> {
  const child = spawn(node, [bin, ...args], { env: { PATH: process.env.PATH, ...env } });
  child.stdin.on('error', () => {}).end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    // A reader of texts would leave a byte order mark away.
    buffer(child.stdout).then(String),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { stdout, stderr, code };
}
