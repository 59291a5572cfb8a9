import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free-port.ts';
import { answering } from './products.ts';
import { answerOf, postOf, type Router } from './routers.ts';

const BINARY = fileURLToPath(
  new URL('node_modules/@grafbase/cli-x86_64-unknown-linux-musl/grafbase', import.meta.url),
);

/** Its package is for Linux on x64 alone, as CI is. */
export const isLeftOut = process.env.CI !== 'true' && !existsSync(BINARY);

export interface Subgraph {
  readonly name: string;
  readonly sdl: string;
  readonly url: string;
}

/**
 * Grafbase's engine, by the command that starts it for development: it composes the supergraph itself. It
 * asks for `application/graphql-response+json` before JSON, against any setting.
 */
export async function startGrafbase(subgraphs: readonly Subgraph[]): Promise<Router> {
  const folder = mkdtempSync(join(tmpdir(), 'country-graph-grafbase-'));
  for (const { name, sdl } of subgraphs) writeFileSync(join(folder, `${name}.graphql`), sdl);
  const config = join(folder, 'grafbase.toml');
  writeFileSync(config, subgraphs.map(configOf).join('\n'));
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(BINARY, ['--home', folder, 'dev', '-c', config, '--listen-address', address], {
    cwd: folder,
    stdio: 'ignore',
  });
  const stop = () => stopped(child, folder);
  const url = `http://${address}/graphql`;
  try {
    await answering(url);
  } catch (fault) {
    await stop();
    throw fault;
  }
  return {
    ask: (query, authorization) => answerOf(fetch(url, postOf(query, authorization))),
    [Symbol.asyncDispose]: stop,
  };
}

function configOf({ name, url }: Subgraph): string {
  return `
    [subgraphs.${name}]
    url = "${url}"
    schema_path = "${name}.graphql"
    [[subgraphs.${name}.headers]]
    rule = "forward"
    name = "authorization"
  `;
}

async function stopped(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const over = once(child, 'exit');
    child.kill('SIGKILL');
    await over;
  }
  rmSync(folder, { recursive: true });
}
