import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface ServingOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeArgs?: readonly string[];
}

export interface Serving {
  readonly child: ChildProcess;
  readonly url: string;
}

/** The program as a user starts it, in a process of its own that listens on a free port; whoever starts it ends it. */
export async function startServing({ env = {}, nodeArgs = [] }: ServingOptions): Promise<Serving> {
  const child = spawn(process.execPath, [...nodeArgs, 'src/cli/main.ts', 'serve'], {
    env: { PATH: process.env.PATH, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let text = '';
  while (child.exitCode === null && child.signalCode === null) {
    const [chunk] = await Promise.race([once(child.stdout, 'data'), ended]);
    text += chunk;
    const url = /http:\/\/\S+\/graphql(?=\s)/.exec(text)?.[0];
    if (url === undefined) continue;
    child.stdout.resume();
    return { child, url };
  }
  throw new Error(`The program ended before it listened: ${text}`);
}
