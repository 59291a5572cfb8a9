import { Command, InvalidArgumentError, Option } from 'commander';
import { ConfigError, settingsError } from '../config/config.ts';
import { type CommandHost, PluginError } from '../gateway/plugin.ts';
import { plugins as shipped } from '../plugins.ts';
import { messageOf } from '../shared/errors.ts';
import { ownVersion } from '../shared/own-version.ts';
import { replaceFile } from '../shared/text-files.ts';
import { explained, listenError } from './explained.ts';
import { CommandError, questionFrom } from './formats.ts';
import { keyOption, ownKeyOf } from './given-key.ts';
import { type ProgramPlugins, withNamedPlugins } from './named-plugins.ts';
import type { query, Surroundings } from './query.ts';
import { announceSandbox, serve } from './serve-command.ts';
import { onStopSignal } from './stop-signals.ts';
import { settingsOf } from './strange-settings.ts';
import { WorkerEnded } from './workers/supervisor.ts';

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
  country-graph query figures.graphql --variables '{"code":"KE"}' --format csv --out figures.csv
  CACHE_URL=sqlite:figures.db OFFLINE=on country-graph query figures.graphql
  COUNTRY_GRAPH_KEY=… country-graph query --url http://127.0.0.1:4000 - < figures.graphql`,
  explain: `
Examples:
  country-graph explain '{ countries { name } }'
  country-graph explain figures.graphql --variables '{"code":"KE"}'`,
  doctor: `
Example:
  COUNTRY_DATA_URL=https://… COUNTRY_GRAPH_KEY=… country-graph doctor`,
} as const;

function addQuery(program: Command, host: Surroundings): void {
  program
    .command('query')
    .description(
      'run one operation; the answer goes to standard output; errors, the bill and the name of the service to standard error',
    )
    .argument('<file|-|text>', SOURCE)
    .addOption(
      new Option(
        '--url <url>',
        'a gateway that runs; left out, COUNTRY_DATA_URL is asked, or else the embedded sandbox',
      ).env('COUNTRY_GRAPH_URL'),
    )
    .addOption(keyOption())
    .option('--variables <json>', 'its variables', '{}')
    .option('--operation <name>', 'which operation of the file')
    .addOption(
      new Option('--format <format>', 'the data as JSON, or their lists as rows')
        .choices(['json', 'table', 'csv', 'ndjson', 'arrow'])
        .default('json'),
    )
    .option('--out <file>', 'write to a file, which stays as it was unless all went well')
    .option('--absences', 'say why what is absent is: the reasons go to standard error')
    .option('--wide', 'rows with a column for each year, or other period')
    .option('--bom', 'begin CSV with a byte order mark, by which Excel tells that it is UTF-8')
    .addHelpText('after', EXAMPLES.query)
    .action(
      async (source: string, options: Parameters<typeof questionFrom>[1] & Parameters<typeof query>[1]) => {
        const { query } = await import('./query.ts');
        const { written, remarks, exitCode } = await query(
          await questionFrom(source, options),
          options,
          host,
        );
        const { out } = options;
        if (written !== null && out !== undefined)
          await replaceFile(out, written).catch((error: unknown) => {
            throw new CommandError(`--out: ${messageOf(error)}`);
          });
        // The reader may have closed the pipe.
        else if (written !== null) process.stdout.on('error', () => {}).write(written);
        process.stderr.write(remarks);
        // process.exit would cut text that a pipe has not taken yet.
        process.exitCode = exitCode;
      },
    );
}

function addDoctor(program: Command, host: CommandHost, programPlugins: ProgramPlugins): void {
  program
    .command('doctor')
    .description('look at settings, service, clock and cache; spends no call, or one if a key is given')
    .addOption(keyOption())
    .addHelpText('after', EXAMPLES.doctor)
    .action(async ({ key }: { key?: string }) => {
      const { examine } = await import('./doctor.ts');
      const { report, isWell } = await examine(host, programPlugins, key, Date.now);
      process.stdout.write(report);
      process.exitCode = isWell ? 0 : 1;
    });
}

function addServe(program: Command, env: NodeJS.ProcessEnv, programPlugins: ProgramPlugins): void {
  const command = program
    .command('serve')
    .description('run the gateway; without COUNTRY_DATA_URL, over the embedded sandbox')
    .option('--host <host>', 'where to listen, in place of HOST')
    .option('--port <port>', 'port, in place of PORT; 0 picks a free one', portNumber);
  const setting = (settings: Readonly<Record<string, string>>) => Object.assign(env, settings);
  const options = programPlugins.plugins.flatMap(({ serveOptions = [] }) => serveOptions);
  for (const { flags, description, settings } of options)
    command.addOption(
      new Option(flags, description).preset('').argParser((value: string) => setting(settings(value))),
    );
  command.action(({ host, port }: { host?: string; port?: number }) => {
    // In the environment, since workers read it.
    if (host !== undefined) env.HOST = host;
    if (port !== undefined) env.PORT = String(port);
    return serve(env, programPlugins);
  });
}

async function addPrices(program: Command, host: CommandHost): Promise<void> {
  const command = program
    .command('price')
    .description(
      'price the operations of a project, and write the prices beside the code; --check fails where one has risen; sends nothing',
    );
  if (process.argv[2] === 'price') (await import('./prices/price.ts')).addPrice(command, host);
}

/** Loads only the command that is asked for. */
async function addOfPlugins(program: Command, host: CommandHost): Promise<void> {
  const [, , asked = ''] = process.argv;
  for (const { commands = [] } of host.plugins)
    for (const { name, description, load } of commands) {
      const command = program.command(name).description(description);
      if (name !== asked) continue;
      const { commandView } = await import('./command-view.ts');
      (await load())(command, commandView(host));
    }
}

const note = (words: string) => void process.stderr.write(`${words}\n`);

const SANDBOX_PORT = 4100;

/** Each command loads only the modules that it needs. */
async function runCommand(env: NodeJS.ProcessEnv): Promise<void> {
  const programPlugins = await withNamedPlugins(env.PLUGINS, shipped);
  const { plugins, errors } = programPlugins;
  const openSandbox = async () => (await import('./serve.ts')).openSandbox();
  const host = { env, plugins, openSandbox };
  const program = new Command('country-graph')
    .description('GraphQL over the Country Data Service.')
    .option('-V, --version', 'print the version, and the commit that it was built of')
    .addHelpText('after', EXAMPLES.program);
  program.on('option:version', () => {
    console.log(ownVersion());
    process.exit(0);
  });

  program.hook('preAction', (_, command) => {
    // The one reports what is wrong; the other takes no settings.
    if (errors.length > 0 && command.name() !== 'doctor' && command.name() !== 'sandbox')
      throw settingsError(...errors);
  });

  addServe(program, env, programPlugins);

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
      const { sdlFor } = await import('./own-gateway.ts');
      const config = settingsOf(env, plugins, note);
      process.stdout.write(await sdlFor(whom, { config, plugins, note }));
    });

  program
    .command('explain')
    .description('print the upstream calls that an operation would make; sends nothing')
    .argument('<file|-|text>', SOURCE)
    .option('--variables <json>', 'its variables', '{}')
    .option('--operation <name>', 'which operation of the file')
    .addOption(keyOption('the key that CACHE_URL has figures under, without the word Bearer'))
    .addHelpText('after', EXAMPLES.explain)
    .action(async (source: string, options: Parameters<typeof questionFrom>[1] & { key?: string }) => {
      const { priceTable } = await import('./own-gateway.ts');
      const config = settingsOf(env, plugins, note);
      const key = (await ownKeyOf(options, env)) ?? 'explain';
      console.log(await priceTable(await questionFrom(source, options), key, { config, plugins, note }));
    });

  addQuery(program, host);
  addDoctor(program, host, programPlugins);
  await addPrices(program, host);
  await addOfPlugins(program, host);

  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof WorkerEnded) {
      // It has logged the reason itself.
      process.exit(typeof error.code === 'number' ? error.code : 1);
    }
    const cause = listenError(error, env) ?? error;
    console.error(explained(cause));
    process.exit(cause instanceof ConfigError || cause instanceof PluginError ? 2 : 1);
  }
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('It must be from 0 to 65535.');
  return port;
}

void runCommand(process.env);
