import { readFileSync } from 'node:fs';
import { CommandError } from '../../cli/formats.ts';
import type { CommandHost } from '../../gateway/plugin.ts';
import type { Clock } from '../../shared/async/clock.ts';

/** Seconds for which a store keeps what these commands have fetched. */
export const TEN_YEARS = 315_360_000;

interface GivenKey {
  readonly key?: string | undefined;
  readonly keyFile?: string | undefined;
}

/**
 * Returns the key that a command is to use, without the word Bearer: of its options, or the one that a gateway has of its own;
 * undefined if none is given.
 * @throws CommandError if it is none
 */
export function keyIn({ key, keyFile }: GivenKey, env: NodeJS.ProcessEnv): string | undefined {
  const { COUNTRY_DATA_KEY: dataKey, COUNTRY_DATA_KEY_FILE: dataKeyFile } = env;
  const given = keyFile === undefined ? (key ?? dataKey ?? textOf(dataKeyFile)) : textOf(keyFile);
  if (given === undefined || given === '') return undefined;
  if (/^[!-~]{1,4096}$/.test(given)) return given;
  throw new CommandError('The key has to be up to 4096 printable ASCII characters without blanks.');
}

function textOf(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new CommandError(`The key in ${file} can't be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** What a fill has around it: a terminal or none, and a clock. */
export interface Surroundings extends Pick<CommandHost, 'env' | 'plugins' | 'openSandbox'> {
  readonly clock: Clock;
  /** True if the reader sees a bar grow. */
  readonly isTerminal: boolean;
  /** Writes to standard output, and to standard error. */
  readonly print: (text: string) => void;
  readonly note: (text: string) => void;
  /** Asks somebody; null if nobody is there. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
}
