import { Argument, type Command, Option } from 'commander';
import { completionScript, SHELLS, type Shell } from './completion.ts';
import { FORMATS, type Format } from './formats.ts';
import type { QueryOptions } from './query.ts';

/**
 * Makes the option of the key. A key on a command line can be read by others on the machine; in the environment it
 * can't.
 */
const keyOption = () =>
  new Option('--key <key>', 'the key, without the word Bearer').env('COUNTRY_GRAPH_KEY');

export function addQuery(program: Command, parsedVariables: (text: string) => unknown): void {
  program
    .command('query')
    .description(
      'run one operation; the answer goes to standard output, errors and the bill to standard error',
    )
    .argument('<file|-|text>', 'a file, - for standard input, or the operation itself')
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
        .choices(FORMATS)
        .default('json'),
    )
    .option('--bom', 'begin CSV with a byte order mark, by which Excel tells that it is UTF-8')
    .action(
      async (
        source: string,
        options: Omit<QueryOptions, 'variables'> & { variables: string; format: Format },
      ) => {
        const { query } = await import('./query.ts');
        const { answer, remarks, exitCode } = await query(source, {
          ...options,
          variables: parsedVariables(options.variables),
        });
        // The reader may have read enough.
        process.stdout.on('error', () => {}).write(answer);
        process.stderr.write(remarks);
        // Not by process.exit, which would cut the text that a pipe has not taken yet.
        process.exitCode = exitCode;
      },
    );
}

export function addDoctor(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('doctor')
    .description('look at settings, service, clock and cache; spends no call, or one where a key is given')
    .addOption(keyOption())
    .action(async ({ key }: { key?: string }) => {
      const { examine, report } = await import('./doctor.ts');
      const findings = await examine({ env, key, now: Date.now });
      process.stdout.write(report(findings));
      process.exitCode = findings.some(({ isWell }) => isWell === false) ? 1 : 0;
    });
}

export function addMcp(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command('mcp')
    .description('serve the described trusted documents as tools (MCP) on standard input and output')
    .option('--key-file <file>', 'a file that the key stands in; left out, COUNTRY_GRAPH_KEY has it')
    .action(async ({ keyFile }: { keyFile?: string }) => {
      const { serveTools } = await import('./mcp.ts');
      await serveTools(env, keyFile);
    });
}

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print a script that completes commands and options')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .action(async (shell: Shell) => {
      process.stdout.write(completionScript(program, shell));
    });
}
