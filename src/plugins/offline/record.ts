import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { loadSqlite } from '../../cache/sqlite-file.ts';
import { packing } from '../../cache/unpacked-store.ts';
import { openAskedService } from '../../cli/asked-service.ts';
import { keyOption, ownKeyOf } from '../../cli/given-key.ts';
import { onParentLost } from '../../cli/lost-parent.ts';
import { settingsOf } from '../../cli/strange-settings.ts';
import { createGateway } from '../../gateway/gateway.ts';
import { type CommandHost, definePlugin } from '../../gateway/plugin.ts';
import { nameInStore } from '../../keys/tenant-cache.ts';
import { createLog } from '../../server/log.ts';
import { createMetrics } from '../../server/metrics.ts';
import { createServer } from '../../server/server.ts';
import { type Fixture, timeless, underKey, writeFixtures } from './fixtures.ts';
import { lasting } from './given.ts';

const EXAMPLES = `
Examples:
  country-graph record -- npm test
  country-graph record --out test/figures.ndjson -- npx playwright test
  country-graph serve --offline test/figures.ndjson
The command finds the gateway's address in COUNTRY_GRAPH_URL. Its exit code is that of record.`;

interface RecordOptions {
  readonly out: string;
  readonly key?: string;
  readonly keyFile?: string;
}

export function addRecord(command: Command, host: CommandHost): void {
  command
    .argument('<command...>', 'the command to run, after --')
    .option('--out <file>', 'the file of the fixtures', 'fixtures.ndjson')
    .addOption(keyOption('the key in whose name everything is asked, without the word Bearer'))
    .option('--key-file <file>', 'a file that the key stands in')
    .addHelpText('after', EXAMPLES)
    .action(async (words: readonly string[], options: RecordOptions) => {
      process.exitCode = await record(words, options, host);
    });
}

/** Runs a command beside a gateway and writes the service's answers; returns the exit code of the command. */
async function record(
  [file = '', ...args]: readonly string[],
  options: RecordOptions,
  { env, plugins, openSandbox }: CommandHost,
): Promise<number> {
  using signals = takeSignals(env);
  const folder = await mkdtemp(join(tmpdir(), 'country-graph-record-'));
  const database = join(folder, 'recorded.db');
  let service: Awaited<ReturnType<typeof openAskedService>> | undefined;
  try {
    const note = (words: string) => void process.stderr.write(`${words}\n`);
    const given = lasting(settingsOf(env, plugins, note));
    service = await openAskedService(given, await ownKeyOf(options, env), openSandbox, note);
    const { url: upstreamUrl, key } = service;
    const config = {
      ...given,
      host: '127.0.0.1',
      port: 0,
      adminPort: undefined,
      cacheUrl: `sqlite:${database}`,
      // Everything is asked for once.
      cacheTtlSeconds: Number.POSITIVE_INFINITY,
    };
    const bearer = definePlugin({
      name: 'the key of a record',
      settings: {},
      open: () => (key === undefined ? null : { keys: underKey(`Bearer ${key}`) }),
    });
    const log = createLog('warn');
    const gateway = await createGateway({
      config,
      plugins: [bearer, ...plugins],
      upstreamUrl,
      observer: log,
    });
    const server = createServer({ config, gateway, metrics: createMetrics(), log, demoKeys: null });
    const { url } = await server.listen();
    const run = runCommand(file, args, { ...env, COUNTRY_GRAPH_URL: url }, signals);
    const code = await run.finally(() => server.drain());
    if (code !== 0) {
      process.stderr.write(`The command ended with exit code ${code}, so ${options.out} is as it was.\n`);
      return code;
    }
    const fixtures = await recordedIn(database);
    await writeFixtures(options.out, { recordedAt: new Date().toISOString(), fixtures });
    process.stderr.write(
      `${options.out} has ${fixtures.length} answers and figures of the service, under no key.\n`,
    );
    return code;
  } finally {
    await service?.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the exit code: for a command that a signal ended, as shells do. */
async function runCommand(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signals: ReturnType<typeof takeSignals>,
): Promise<number> {
  const { taken } = signals;
  if (taken !== undefined) return codeOf(taken);
  const child = spawn(file, args, { env, stdio: 'inherit', shell: process.platform === 'win32' });
  signals.passTo(child);
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return code ?? (signal === null ? 1 : codeOf(signal));
}

const codeOf = (signal: NodeJS.Signals) => 128 + constants.signals[signal];

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Takes signals that would end the program before its store is gone, and passes them on to the command. */
function takeSignals(env: NodeJS.ProcessEnv) {
  let command: ChildProcess | undefined;
  let taken: NodeJS.Signals | undefined;
  const take = (signal: NodeJS.Signals) => {
    taken ??= signal;
    // A terminal sends this one to the command too, which decides when to end.
    if (signal !== 'SIGINT') command?.kill(signal);
  };
  for (const signal of ENDING) process.on(signal, take);
  const lookNoMore = onParentLost(env, () => take('SIGTERM'));
  return {
    get taken() {
      return taken;
    },
    passTo(child: ChildProcess): void {
      command = child;
    },
    [Symbol.dispose](): void {
      lookNoMore();
      for (const signal of ENDING) process.off(signal, take);
    },
  };
}

async function recordedIn(path: string): Promise<readonly Fixture[]> {
  const open = await loadSqlite();
  const db = open(path, 0);
  try {
    const byName = new Map<string, unknown>();
    for (const { key, value } of db.prepare('SELECT key, value FROM entries').all()) {
      const name = nameInStore(String(key));
      const { value: entry } = packing.parse<{ readonly value?: { readonly value?: unknown } }>(
        String(value),
      );
      if (name !== null && entry?.value !== undefined) byName.set(name, timeless(entry.value));
    }
    return Array.from(byName, ([name, value]) => ({ name, value }));
  } finally {
    db.close();
  }
}
