import { readFile } from 'node:fs/promises';
import { Option } from 'commander';
import { CommandError } from './formats.ts';

/** On a command line, other users of the machine could read the key; in the environment they can't. */
export const keyOption = (description = 'the key, without the word Bearer') =>
  new Option('--key <key>', description).env('COUNTRY_GRAPH_KEY');

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
  throw new CommandError('The key has to be up to 4096 printable ASCII characters without blanks.');
}

async function keyIn(file: string, named: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`${named}: ${file} can't be read: ${error.code ?? error.message}`);
  });
  return text.replace(/\r?\n$/, '');
}
