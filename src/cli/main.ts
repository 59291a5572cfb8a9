import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { ConfigError, readConfig } from '../config/config.ts';
import { remarkOnBudget } from '../config/memory-budget.ts';
import { plugins } from '../plugins.ts';
import type { Log } from '../server/log.ts';
import { ownVersion } from '../shared/own-version.ts';
import { CommandError, questionFrom } from './formats.ts';
import { keyOption } from './given-key.ts';
import type { query } from './query.ts';
import type { Program } from './serve.ts';
import { remarksOf, strangeSettings } from './strange-settings.ts';
import { WorkerEnded } from './workers/supervisor.ts';

/** Ways to hand an operation to a command. */
const SOURCE = 'a file, - for standard input, or the operation itself';

const EXAMPLES = {
  program: `
Examples:
  country-graph serve --port 4000
  country-graph query '{ countries { name capital } }' --format table
  country-graph explain '{ countries { name } }'
  COUNTRY_DATA_URL=https://… country-graph doctor`,
  query: `
Examples:
  country-graph query '{ country(code: "KE") { name capital } }'
  country-graph query figures.graphql --variables '{"code":"KE"}' --format csv > figures.csv
  COUNTRY_GRAPH_KEY=… country-graph query --url http://127.0.0.1:4000 - < figures.graphql`,
  explain: `
Examples:
  country-graph explain '{ countries { name } }'
  country-graph explain figures.graphql --variables '{"code":"KE"}'`,
  doctor: `
Example:
  COUNTRY_DATA_URL=https://… COUNTRY_GRAPH_KEY=… country-graph doctor`,
} as const;

function addQuery(program: Command): void {
  program
    .command('query')
    .description(
      'run one operation; the answer goes to standard output, errors and the bill to standard error',
    )
    .argument('<file|-|text>', SOURCE)
    .addOption(
      new Option('--url <url>', 'a gateway that runs; left out, the embedded sandbox answers').env(
        'COUNTRY_GRAPH_URL',
      ),
    )
    .addOption(keyOption())
    .option('--variables <json>', 'its variables', '{}')
    .option('--operation <name>', 'which operation of the file')
    .addOption(
      new Option('--format <format>', 'the data as JSON, or their lists as rows')
        .choices(['json', 'table', 'csv', 'ndjson'])
        .default('json'),
    )
    .option('--bom', 'begin CSV with a byte order mark, by which Excel tells that it is UTF-8')
    .addHelpText('after', EXAMPLES.query)
    .action(
      async (source: string, options: Parameters<typeof questionFrom>[1] & Parameters<typeof query>[1]) => {
        const { query } = await import('./query.ts');
        const { answer, remarks, exitCode } = await query(await questionFrom(source, options), options);
        // The reader may have read enough.
        process.stdout.on('error', () => {}).write(answer);
        process.stderr.write(remarks);
        // Not by process.exit, which would cut the text that a pipe has not taken yet.
        process.exitCode = exitCode;
      },
    );
}

function addDoctor(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('doctor')
    .description('look at settings, service, clock and cache; spends no call, or one if a key is given')
    .addOption(keyOption())
    .addHelpText('after', EXAMPLES.doctor)
    .action(async ({ key }: { key?: string }) => {
      const { examine } = await import('./doctor.ts');
      const { report, isWell } = await examine(env, key, Date.now);
      process.stdout.write(report);
      process.exitCode = isWell ? 0 : 1;
    });
}

function addServe(program: Command, env: NodeJS.ProcessEnv): void {
  const command = program
    .command('serve')
    .description('run the gateway; without COUNTRY_DATA_URL, over the embedded sandbox')
    .option('--host <host>', 'where to listen, in place of HOST')
    .option('--port <port>', 'port, in place of PORT; 0 picks a free one', portNumber);
  const setting = (settings: Readonly<Record<string, string>>) => Object.assign(env, settings);
  for (const { flags, description, settings } of plugins.flatMap(({ serveOptions = [] }) => serveOptions))
    command.addOption(
      new Option(flags, description).preset('').argParser((value: string) => setting(settings(value))),
    );
  command.action(({ host, port }: { host?: string; port?: number }) => {
    // Workers read the environment as well.
    if (host !== undefined) env.HOST = host;
    if (port !== undefined) env.PORT = String(port);
    return serve(env);
  });
}

/** Adds the commands of plugins: the rest of each is loaded only if it is meant. */
async function addOfPlugins(program: Command, env: NodeJS.ProcessEnv): Promise<void> {
  const [, , asked = ''] = process.argv;
  for (const { name, description, load } of plugins.flatMap(({ commands = [] }) => commands)) {
    const command = program.command(name).description(description);
    if (name === asked)
      (await load())(command, {
        env,
        plugins,
        strangeSettings: () => strangeSettings(env),
        openSandbox: async () => (await import('./serve.ts')).openSandbox(),
      });
  }
}

/**
 * Milliseconds after the first signal in which npm passes on a second one that the whole group was sent: so soon, that
 * is no second wish.
 */
const SIGNAL_ECHO_MS = 200;
const SANDBOX_PORT = 4100;

/** Milliseconds that operations in flight may take after an error. */
const ERROR_DRAIN_MS = 5_000;

/** Runs the command of the command line. Each command loads the modules that it needs, and no more. */
async function runCommand(env: NodeJS.ProcessEnv): Promise<void> {
  const program = new Command('country-graph')
    .description('GraphQL over the Country Data Service.')
    .option('-V, --version', 'print the version, and the commit that it was built of')
    .addHelpText('after', EXAMPLES.program);
  program.on('option:version', () => {
    console.log(ownVersion());
    process.exit(0);
  });

  addServe(program, env);

  program
    .command('sandbox')
    .description('run the sandbox alone: the REST service in miniature, with synthetic figures')
    .option('--host <host>', 'where to listen', '127.0.0.1')
    .option('--port <port>', 'port; 0 picks a free one', portNumber, SANDBOX_PORT)
    .action(async ({ host, port }: { host: string; port: number }) => {
      const { createSandbox } = await import('../sandbox/sandbox.ts');
      const sandbox = createSandbox();
      const { url } = await sandbox.listen({ host, port });
      announceSandbox('The sandbox', url, sandbox.keys);
      onStopSignal(env, async () => {
        await sandbox.close();
        return true;
      });
    });

  program
    .command('schema')
    .description('print the subgraph SDL')
    .addOption(
      new Option('--for <whom>', 'by the names that routers know, or clients of the gateway')
        .choices(['routers', 'clients'])
        .default('routers'),
    )
    .action(async ({ for: whom }: { for: string }) => {
      const { sdlFor } = await import('./query.ts');
      process.stdout.write(await sdlFor(whom, env));
    });

  program
    .command('explain')
    .description('print the upstream calls that an operation would make; sends nothing')
    .argument('<file|-|text>', SOURCE)
    .option('--variables <json>', 'its variables', '{}')
    .option('--operation <name>', 'which operation of the file')
    .addHelpText('after', EXAMPLES.explain)
    .action(async (source: string, options: Parameters<typeof questionFrom>[1]) => {
      const { explain } = await import('./query.ts');
      console.log(await explain(await questionFrom(source, options)));
    });

  addQuery(program);
  addDoctor(program, env);
  await addOfPlugins(program, env);

  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof WorkerEnded) {
      // It has said itself why.
      process.exit(typeof error.code === 'number' ? error.code : 1);
    }
    const cause = listenError(error, env) ?? error;
    console.error(explained(cause));
    process.exit(cause instanceof ConfigError ? 2 : 1);
  }
}

async function serve(env: NodeJS.ProcessEnv): Promise<void> {
  const samples = env.COUNTRY_DATA_URL === undefined ? await samplesOf(env) : [];
  const config = readConfig(Object.assign({}, env, ...samples.map(({ settings }) => settings)), plugins);
  const { createLog, standardError } = await import('../server/log.ts');
  const outlet = standardError();
  const ownId = config.workers > 1 ? (await import('node:cluster')).default.worker?.id : undefined;
  const log = createLog(config.logLevel, outlet, ownId);
  if (ownId !== undefined) {
    const worker = (await import('./workers/workers.ts')).createWorker(config, log);
    onError(log, () => worker.drain(0));
    await worker.start();
    return;
  }
  for (const strange of strangeSettings(env)) log.warn(strange);
  const remark = remarkOnBudget(config);
  if (remark !== null) log.note(remark);
  // Nobody has chosen the settings of a sample.
  if (samples.length === 0) for (const remark of remarksOf(plugins, config)) log.warn(remark);
  let draining: Promise<number> | undefined;
  // Before there is a program, nothing is under way.
  let drain: Program['drain'] = async () => 0;
  const drainOnce: Program['drain'] = (delayMs) => {
    draining ??= drain(delayMs);
    return draining;
  };
  onError(log, () => drainOnce(0));
  onStopSignal(env, async (signal) => {
    log.note(`${signal}: draining`);
    const cut = await drainOnce();
    if (cut > 0) log.note(`${cut} request(s) took longer than DRAIN_TIMEOUT_MS and were cut`);
    return cut === 0;
  });
  // The program's starter may have read enough of it.
  process.stdout.on('error', () => {});
  // Each way to start the program loads what it takes.
  const program =
    config.workers > 1
      ? await (await import('./workers/workers.ts')).startWorkers(config, log, outlet)
      : await (await import('./serve.ts')).startProgram(config, log);
  const { url, adminUrl, sandbox } = program;
  drain = program.drain;
  if (sandbox) announceSandbox('The embedded sandbox', sandbox.url, sandbox.keys);
  log.note(`Country Graph ${ownVersion()} on Node ${process.versions.node} takes requests`);
  if (adminUrl !== undefined) console.log(`Health and metrics are at ${adminUrl}`);
  for (const { words } of samples) console.log(words(url));
  console.log(`Country Graph answers at ${url}`);
}

/** What plugins show over the sandbox, each if all that it needs is there. */
async function samplesOf(env: NodeJS.ProcessEnv) {
  const names = new Set(plugins.map(({ name }) => name));
  const able = plugins.filter(({ needs = [] }) => needs.every((needed) => names.has(needed)));
  const samples = await Promise.all(able.map(({ sample }) => sample?.(env)));
  return samples.filter((one) => one != null);
}

function announceSandbox(name: string, url: string, keys: Readonly<Record<string, string>>): void {
  const rows = Object.entries(keys).map(([plan, key]) => `  ${plan.padEnd(14)} ${key}`);
  console.log([`${name} is at ${url}. All its figures are synthetic. Demo keys:`, ...rows].join('\n'));
}

/**
 * Stops in good order at the first signal, or the loss of a parent that would have passed one on; at the next one at
 * once, exit code 1.
 * @param stop resolves with true if all work that was under way could finish: then the exit code is 0, otherwise 1
 */
function onStopSignal(env: NodeJS.ProcessEnv, stop: (signal: string) => Promise<boolean>): void {
  const echoMs = env.npm_lifecycle_event === undefined ? 0 : SIGNAL_ECHO_MS;
  let stoppedAt: number | undefined;
  const onSignal = (signal: string) => {
    if (stoppedAt !== undefined) {
      if (performance.now() - stoppedAt >= echoMs) process.exit(1);
      return;
    }
    stoppedAt = performance.now();
    lookNoMore();
    stop(signal).then(
      (isWhole) => process.exit(isWhole ? 0 : 1),
      (error: unknown) => {
        console.error(explained(error));
        process.exit(1);
      },
    );
  };
  const lookNoMore = onParentLost(env, () => onSignal('npm, or the like, that ran this has gone'));
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
}

/** Milliseconds between two looks for the parent. */
const PARENT_LOOK_MS = 1_000;

/** Shells that npm and the like run a script by. */
const SHELL = /^(?:\S*\/)?(?:sh|ash|bash|busybox|dash|ksh|zsh)$/;

/**
 * Calls back once when a package manager that runs the program has gone without it: `npx` ends at a SIGTERM by itself,
 * and would leave the program as an orphan that holds its port. The operating system gives orphans another parent,
 * which shows it; Windows doesn't, and there nothing is noticed. A program that was started otherwise, or was given
 * away before this (`nohup … &` in a script), has no such parent.
 * @returns a function that stops looking
 */
function onParentLost(env: NodeJS.ProcessEnv, lost: () => void): () => void {
  const parent = process.ppid;
  // Each package manager sets it.
  if (env.npm_config_user_agent === undefined || parent <= 1) return () => {};
  // A shell between the two outlives its own parent if that is killed.
  const above = isShell(parent) ? parentOf(parent) : undefined;
  const timer = setInterval(() => {
    const isLeft = process.ppid === parent && (above === undefined || (parentOf(parent) ?? above) === above);
    if (isLeft) return;
    clearInterval(timer);
    lost();
  }, PARENT_LOOK_MS).unref();
  return () => clearInterval(timer);
}

/** Returns true if a process is `sh -c …`, as far as the system tells. */
function isShell(pid: number): boolean {
  const [name = '', flag] = read(`/proc/${pid}/cmdline`).split('\0');
  return SHELL.test(name) && flag === '-c';
}

/** Returns the parent of a process; undefined if the system doesn't tell. */
function parentOf(pid: number): number | undefined {
  // The name before it may have any characters.
  const [, parent] = /^\d+ \(.*\) \S (\d+) /s.exec(read(`/proc/${pid}/stat`)) ?? [];
  return parent === undefined ? undefined : Number(parent);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/**
 * Ends the program after an exception or a rejection that nobody has caught, since its state may be in pieces. The
 * error is logged whole, operations in flight get a little time, and the exit code is 1.
 */
function onError({ fatal }: Log, drain: () => Promise<unknown>): void {
  const end = (error: unknown, where: string) => {
    fatal(error, where);
    setTimeout(() => process.exit(1), ERROR_DRAIN_MS);
    drain().then(
      () => process.exit(1),
      () => process.exit(1),
    );
  };
  process.on('uncaughtException', end).on('unhandledRejection', (error) => end(error, 'unhandledRejection'));
}

/**
 * Names the setting if the program can't listen at its address: `HOST` is none of this machine's, or another program
 * has the port. Null if the error is another.
 */
function listenError(error: unknown, { HOST }: NodeJS.ProcessEnv): Error | null {
  const { syscall, code, port } = error as NodeJS.ErrnoException & { readonly port?: number };
  // Workers bind the port that they share.
  if ((syscall === 'listen' || syscall === 'bind') && code === 'EADDRINUSE')
    return new CommandError(
      `Another program listens on port ${port} already. Stop it, or take another port: --port, or PORT and ADMIN_PORT; 0 picks a free one.`,
    );
  const isOfHost = syscall === 'getaddrinfo' || (syscall === 'listen' && code === 'EADDRNOTAVAIL');
  if (!isOfHost || HOST === undefined) return null;
  return new ConfigError(
    `The settings have 1 error(s):\n  HOST: must be an address of this machine (got ${JSON.stringify(HOST)})`,
  );
}

/** Explains an error: one line if the operator can mend it, the whole stack if only we can. */
function explained(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof ConfigError || error instanceof CommandError || 'syscall' in error)
    return error.message;
  return error.stack ?? error.message;
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('It must be from 0 to 65535.');
  return port;
}

void runCommand(process.env);
