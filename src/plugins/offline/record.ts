import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Command } from 'commander';
import type { CommandHost } from '../../plugin/index.ts';
import { writeFixtures } from './fixtures.ts';
import { keyOption, UNHEEDED } from './given.ts';

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
  host: CommandHost,
): Promise<number> {
  const { env } = host;
  using signals = takeSignals(host);
  const note = (words: string) => void process.stderr.write(`${words}\n`);
  const { key, keyFile } = options;
  const recording = await host.settings(note, UNHEEDED).openRecording({ key, keyFile });
  try {
    const run = runCommand(file, args, { ...env, COUNTRY_GRAPH_URL: recording.url }, signals);
    const code = await run.finally(() => recording.drain());
    if (code !== 0) {
      note(`The command ended with exit code ${code}, so ${options.out} is as it was.`);
      return code;
    }
    const fixtures = await recording.values();
    await writeFixtures(options.out, { recordedAt: new Date().toISOString(), fixtures }, host);
    note(`${options.out} has ${fixtures.length} answers and figures of the service, under no key.`);
    return code;
  } finally {
    await recording.close();
  }
}

/** Returns the exit code: for a command that a signal ended, as shells do. */
async function runCommand(
  file: string,
  args: readonly string[],
  env: CommandHost['env'],
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
function takeSignals({ onParentLost }: CommandHost) {
  let command: ChildProcess | undefined;
  let taken: NodeJS.Signals | undefined;
  const take = (signal: NodeJS.Signals) => {
    taken ??= signal;
    // A terminal sends this one to the command too, which decides when to end.
    if (signal !== 'SIGINT') command?.kill(signal);
  };
  for (const signal of ENDING) process.on(signal, take);
  const lookNoMore = onParentLost(() => take('SIGTERM'));
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
