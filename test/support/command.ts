import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { buffer, text } from 'node:stream/consumers';

/** Result of a command. */
export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

export interface Running {
  readonly env?: Readonly<Record<string, string>>;
  /** Its standard input; empty by default. */
  readonly input?: string | Buffer;
  /** Path of Node; that of the tests by default. */
  readonly node?: string;
  /** The program's file; that of the checkout by default. */
  readonly bin?: string;
  readonly cwd?: string;
}

/** Runs a command of the program as a user does, in a separate process. */
export async function runCommand(
  args: readonly string[],
  { env = {}, input = '', node = process.execPath, bin = 'bin/country-graph.cjs', cwd }: Running = {},
): Promise<Ran> {
  const child = spawn(node, [bin, ...args], { env: { PATH: process.env.PATH, ...env }, cwd });
  child.stdin.on('error', () => {}).end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    // `text` would drop a byte order mark.
    buffer(child.stdout).then(String),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { stdout, stderr, code };
}
