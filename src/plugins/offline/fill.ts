import { createInterface } from 'node:readline/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandHost } from '../../plugin/index.ts';
import { createFetching } from './fetching.ts';
import { keyOption, type Surroundings, UNHEEDED } from './given.ts';
import { createProgress, type PlanLimits } from './progress.ts';
import { questionsIn, type Selection } from './wanted.ts';

const EXAMPLES = `
Examples:
  CACHE_URL=sqlite:figures.db country-graph fill --all
  CACHE_URL=sqlite:figures.db country-graph fill queries/ --yes --leave 200
  CACHE_URL=sqlite:figures.db country-graph fill --indicators population_total --years 2000- --yes
  CACHE_URL=sqlite:figures.db country-graph fill --all --every day --yes --json
Exit codes: 0 all is there, 1 something could not be fetched or stored, 2 wrong settings, 3 the month has no more calls to give,
4 nobody said yes, or not to so many calls.`;

/** Seconds. */
const INTERVALS = { hour: 3_600, day: 86_400, week: 604_800 } as const;

/** Share of an interval after which figures count as old: a job never starts at exactly the same second. */
const INTERVAL_SHARE = 0.9;

/** Of a fill that has ended early, if not 1. */
const EXIT_CODES: Readonly<Record<string, number>> = {
  MONTHLY_QUOTA_EXCEEDED: 3,
  OPERATION_TOO_EXPENSIVE: 4,
};

export interface FillOptions extends Selection {
  readonly trusted?: true;
  readonly variables?: string;
  readonly yes?: true;
  /** Calls that are agreed to in place of the price. */
  readonly most?: number;
  /** Calls of the month to leave. */
  readonly leave?: number;
  readonly every?: keyof typeof INTERVALS;
  readonly json?: true;
  readonly plan?: string;
  readonly key?: string;
  readonly keyFile?: string;
}

export function addFill(command: Command, host: CommandHost): void {
  command
    .argument(
      '[operations...]',
      'operations to run: files, folders of .graphql, manifests of trusted documents, texts',
    )
    .option('--trusted', 'the operations of TRUSTED_DOCUMENTS')
    .option('--variables <json>', 'variables of the operations', '{}')
    .option('--indicators <keys>', 'figures of these indicators, comma-separated; all if left out')
    .option('--countries <codes>', 'figures of these countries, comma-separated; all if left out')
    .option('--years <range>', 'of these years alone: 2000-2020, 2000- or -2020')
    .option('--latest', 'latest figures alone, no series')
    .option('--all', 'all figures and lists; with --latest, no series')
    .option('--records', 'profiles, signals and offices of all countries, and all listings')
    .option('--yes', 'fetch without asking, for up to the price')
    .option('--most <calls>', 'agree to so many calls, in place of the price', count)
    .option('--leave <calls>', 'calls of the month to leave', count)
    .addOption(
      new Option(
        '--every <interval>',
        'renew what is older than this, and whose sources have changed since',
      ).choices(Object.keys(INTERVALS)),
    )
    .addOption(
      new Option('--plan <plan>', 'the plan of the key, until the service names it').choices(
        Object.keys(host.plans),
      ),
    )
    .option('--json', 'print the price and the bill as JSON')
    .addOption(keyOption())
    .option('--key-file <file>', 'a file that the key stands in')
    .addHelpText('after', EXAMPLES)
    .action(async (operations: readonly string[], options: FillOptions) => {
      process.stdout.on('error', () => {});
      process.exitCode = await fill(operations, options, {
        host,
        now: Date.now,
        isTerminal: process.stderr.isTTY === true,
        print: (text) => void process.stdout.write(text),
        note: (text) => void process.stderr.write(text),
        confirm: process.stdin.isTTY === true ? confirm : null,
      });
    });
}

function count(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

async function confirm(question: string): Promise<boolean> {
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await asking.question(question)).trim());
  } finally {
    asking.close();
  }
}

/**
 * Fetches what isn't cached, at the pace of the plan. A fill that was ended at any instant can therefore be resumed.
 * @returns the exit code
 * @throws Error of the settings or of the command
 */
export async function fill(
  sources: readonly string[],
  options: FillOptions,
  around: Surroundings,
): Promise<number> {
  const { host } = around;
  const note = (words: string) => around.note(`${words}\n`);
  const settings = host.settings(note, UNHEEDED);
  checkSettings(settings, options, host);
  const questions = [
    ...(await questionsIn(sources, options.variables ?? '{}', host)),
    ...(options.trusted ? (await settings.documents()).map(({ text }) => ({ query: text })) : []),
  ];
  const plan = planOf(options.plan ?? 'free', host);
  const progress = createProgress(around, { json: options.json === true, plan });
  const everyMs = options.every === undefined ? null : INTERVALS[options.every] * INTERVAL_SHARE * 1000;
  let agreeAgain = async () => 0;
  const filling = await settings.openFilling({
    key: options.key,
    keyFile: options.keyFile,
    plan: plan.name,
    leave: options.leave ?? 0,
    everyMs,
    note,
    onCall: progress.called,
    onRows: progress.rows,
    onSpent: () => agreeAgain(),
  });
  try {
    const fetching = createFetching(filling, host);
    const price = await fetching.priceOf(questions, options);
    progress.priced(price);
    const confirm = options.json ? null : around.confirm;
    if (price.calls > 0 && !options.yes) {
      if (confirm === null) {
        progress.over(null, 'Nothing was sent: say --yes.');
        return 4;
      }
      if (!(await confirm('Fetch them? [y/N] '))) return 4;
    }
    const agreed = options.most ?? price.calls;
    filling.agreeTo(agreed);
    agreeAgain = async () => {
      if (confirm === null) return 0;
      const { calls } = await fetching.priceOf(questions, options);
      const isAgreed = await confirm(
        `The ${agreed} calls are spent, and up to ${calls} more are needed. Fetch them? [y/N] `,
      );
      return isAgreed ? calls : 0;
    };
    const outcome = await fetching.fetch(questions, options);
    progress.over(outcome);
    if (filling.stopped !== null) return EXIT_CODES[filling.stopped.code] ?? 1;
    return Object.keys(outcome.errors).length === 0 ? 0 : 1;
  } finally {
    await filling.stop();
  }
}

function checkSettings(
  { cacheUrl, hasDocuments }: ReturnType<CommandHost['settings']>,
  { trusted }: FillOptions,
  { settingsError }: CommandHost,
): void {
  if (!/^(sqlite|rediss?):/.test(cacheUrl) || cacheUrl === 'sqlite::memory:')
    throw settingsError(
      'CACHE_URL: a fill needs a store that lasts, sqlite:PATH or redis://…; memory: would be gone with the command.',
    );
  if (trusted && !hasDocuments)
    throw settingsError('TRUSTED_DOCUMENTS: --trusted needs it to name the file.');
}

function planOf(name: string, { plans, error }: CommandHost): PlanLimits {
  const limits = plans[name];
  if (limits === undefined) throw error(`There is no plan ${name}.`);
  return { name, ...limits };
}
