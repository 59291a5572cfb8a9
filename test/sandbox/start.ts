import { onTestFinished } from 'vitest';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts';

/** 20 seconds into a minute in the middle of a month: nothing resets by itself while a test runs. */
export const NOW = Date.UTC(2026, 6, 24, 12, 0, 20);

// biome-ignore lint/suspicious/noExplicitAny: bodies are what these tests are about.
type Body = any;

export interface Started {
  sandbox: Sandbox;
  url: string;
  /** Sends a request with the team key unless told otherwise; null sends none. */
  send(
    path: string,
    init?: { key?: string | null } & RequestInit,
  ): Promise<Omit<Response, 'json'> & { json(): Promise<Body> }>;
  json(path: string): Promise<Body>;
}

/** A sandbox that listens until the test ends. */
export async function start(options: SandboxOptions = {}): Promise<Started> {
  const sandbox = createSandbox({ now: () => NOW, ...options });
  const { url } = await sandbox.listen();
  onTestFinished(() => sandbox.close());
  const send: Started['send'] = (path, { key = sandbox.keys.team, ...init } = {}) =>
    fetch(url + path, {
      ...init,
      headers: { ...(key !== null && { authorization: `Bearer ${key}` }), ...init.headers },
    });
  return { sandbox, url, send, json: async (path) => (await send(path)).json() };
}
