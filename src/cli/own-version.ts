import { readFileSync } from 'node:fs';

/** The version of the package, which stands beside the folder of the program's code, built or not. */
export function ownVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return JSON.parse(text).version;
}
