import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable'];

const program = (process.env.PATH ?? '')
  .split(delimiter)
  .concat('/usr/bin')
  .flatMap((folder) => NAMES.map((name) => join(folder, name)))
  .find((path) => existsSync(path));

/** True if suites with a real browser run. Without Chromium they are skipped, except in CI, where they fail. */
export const hasChromium = process.env.CI === 'true' || program !== undefined;

/** A browser that can only connect to this machine. */
export const LAUNCHED = {
  executablePath: program ?? '',
  headless: true,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
  ],
};

export function openBrowser(): Promise<Browser> {
  if (program === undefined) throw new Error('There is no Chromium on the path.');
  return chromium.launch(LAUNCHED);
}
