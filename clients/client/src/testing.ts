/// <reference types="node" />
/** A gateway beside tests, in Node. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';

/** Stops the gateway: Vitest and Playwright take it of a global setup as its teardown; Jest takes none, and ends. */
export interface Offline {
  (): Promise<void>;
  /** Its GraphQL address, which `COUNTRY_GRAPH_URL` names too, for the tests. */
  readonly url: string;
}

export interface OfflineOptions {
  /** A free one if left out. */
  readonly port?: number;
  /** Origins of pages that ask from a browser, comma-separated. */
  readonly origins?: string;
}

/**
 * Serves the fixtures of `country-graph record` until it is stopped; under `record`, whose gateway is there already, it
 * is that one, so that the same setup records.
 */
export async function startOffline(fixtures: string, options: OfflineOptions = {}): Promise<Offline> {
  const { env } = process;
  const recording = env.COUNTRY_GRAPH_URL;
  if (recording !== undefined) return Object.assign(async () => {}, { url: recording });
  const { port = 0, origins } = options;
  const found = createRequire(join(process.cwd(), 'test.js')).resolve('country-graph/package.json');
  const program = join(dirname(found), 'bin/country-graph.cjs');
  const gateway = spawn(
    process.execPath,
    [program, 'serve', '--offline', fixtures, '--port', String(port), '--host', '127.0.0.1'],
    {
      env: { LOG_LEVEL: 'warn', ...env, ...(origins !== undefined && { CORS_ORIGINS: origins }) },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const ended = once(gateway, 'exit');
  // Not left behind by tests that end on their own.
  const kill = () => void gateway.kill();
  process.once('exit', kill);
  let printed = '';
  while (!/http:\/\/\S+\/graphql\s/.test(printed)) {
    const [chunk] = await Promise.race([once(gateway.stdout, 'data'), ended]);
    if (!(chunk instanceof Uint8Array)) throw new Error(`The gateway exited with ${chunk}.`);
    printed += new TextDecoder().decode(chunk);
  }
  gateway.stdout.resume();
  // Tests that don't stop it end all the same, and it with them.
  gateway.unref();
  (gateway.stdout as Socket).unref();
  const url = /http:\/\/\S+\/graphql(?=\s)/.exec(printed)?.[0] ?? '';
  env.COUNTRY_GRAPH_URL = url;
  const stop = async () => {
    process.off('exit', kill);
    delete env.COUNTRY_GRAPH_URL;
    gateway.ref();
    gateway.kill();
    await ended;
  };
  return Object.assign(stop, { url });
}
