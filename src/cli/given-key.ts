import { Option } from 'commander';
import { messageOf } from '../shared/errors.ts';
import { readText } from '../shared/text-files.ts';
import { CommandError } from './formats.ts';

/** On a command line, other users of the machine could read the key; in the environment they can't. */
export const keyOption = (description = 'the key, without the word Bearer') =>
  new Option('--key <key>', description).env('COUNTRY_GRAPH_KEY');

const BOUNDS = 'The key has to be up to 4096 printable ASCII characters without blanks.';

/**
 * Returns the key without the word Bearer; undefined if none is given.
 * @param file has the key in place of `given`
 * @param named the option or setting that names the file
 * @throws CommandError if the file can't be read, or what it has is no key
 */
export async function keyFrom(
  given: string | undefined,
  file: string | undefined,
  named = '--key-file',
): Promise<string | undefined> {
  const key = file === undefined ? given || undefined : await keyIn(file, named);
  if (key === undefined || /^[!-~]{1,4096}$/.test(key)) return key;
  throw new CommandError(`${file === undefined ? '' : `${named}: ${file}, ${wrongIn(key)}. `}${BOUNDS}`);
}

async function keyIn(file: string, named: string): Promise<string> {
  const text = await readText(file).catch((error: unknown) => {
    throw new CommandError(`${named}: ${messageOf(error)}`);
  });
  return text.replace(/\n+$/, '');
}

/** Says what stands where, but not what the key is. */
function wrongIn(key: string): string {
  const at = key.search(/[^!-~]/);
  const before = key.slice(0, at).split('\n');
  const code = key.codePointAt(at)?.toString(16).toUpperCase().padStart(4, '0');
  if (key === '') return 'which is empty';
  if (at < 0) return `which has ${key.length} characters`;
  return `line ${before.length}: character ${(before.at(-1) ?? '').length + 1} is U+${code}`;
}

/** Returns the key of a command's options, or else the gateway's own. */
export function ownKeyOf(
  { key, keyFile }: { readonly key?: string | undefined; readonly keyFile?: string | undefined },
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const given = key ?? env.COUNTRY_DATA_KEY;
  if (given !== undefined || keyFile !== undefined) return keyFrom(given, keyFile);
  return keyFrom(undefined, env.COUNTRY_DATA_KEY_FILE, 'COUNTRY_DATA_KEY_FILE');
}
