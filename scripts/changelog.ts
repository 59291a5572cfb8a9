/**
 * `npm run changelog -- v0.1.0`: the section of `CHANGELOG.md` for a version, on standard output. Ends with
 * exit code 1 if there is none, or the version is not that of the package.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sectionBelow } from './sections.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/**
 * The text below the heading `## 0.1.0` or `## 0.1.0 (2026-12-01)`, up to the next; null if there is none.
 */
export function sectionOf(changelog: string, version: string): string | null {
  return sectionBelow(changelog, (heading) => heading.split(/\s/, 1)[0] === version)?.trim() || null;
}

function main(tag = ''): void {
  const version = tag.replace(/^v/, '');
  const { version: own } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  const text = sectionOf(readFileSync(`${ROOT}CHANGELOG.md`, 'utf8'), version);
  if (version === own && text !== null) {
    console.log(text);
    return;
  }
  console.error(
    version === own
      ? `CHANGELOG.md has no section ## ${version}, or nothing in it.`
      : `The version of the package is ${own}, not ${JSON.stringify(version)}.`,
  );
  process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv[2]);
