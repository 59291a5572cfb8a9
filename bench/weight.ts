import { readFileSync } from 'node:fs';
import { openBrowser } from '../test/support/chromium.ts';
import { openProgram } from '../test/support/program.ts';

/** What a browser loads until the first operation of GraphiQL has been answered, and what opening a chart adds. */
export async function printWeight(): Promise<void> {
  console.log('## What GraphiQL weighs, compressed as it is sent\n');
  const browser = await openBrowser().catch(() => null);
  if (browser === null) {
    console.log('There is no Chromium here to measure it with.\n');
    return;
  }
  await using program = await openProgram();
  const context = await browser.newContext();
  const page = await context.newPage();
  let bytes = 0;
  let requests = 0;
  page.on('response', async (response) => {
    const path = new URL(response.url()).pathname;
    if (!path.startsWith('/graphiql')) return;
    requests += 1;
    if (!path.startsWith('/graphiql/assets/')) return;
    const coding = response.headers()['content-encoding'];
    const suffix = coding === 'br' ? '.br' : coding === 'gzip' ? '.gz' : '';
    bytes += readFileSync(`dist/graphiql${path.slice('/graphiql'.length)}${suffix}`).length;
  });
  await page.goto(`${new URL(program.url).origin}/graphiql`);
  await page.locator('.graphiql-query-editor .view-line').first().waitFor();
  await page.getByRole('button', { name: /Execute/ }).click();
  await page.locator('.graphiql-response .view-line').nth(3).waitFor();
  await page.waitForLoadState('networkidle');
  const first = bytes;
  console.log(`First load, first answer included: ${(first / 1e6).toFixed(2)} MB in ${requests} requests`);
  await page.getByRole('button', { name: 'Show Chart' }).click();
  await page.locator('.picture').first().waitFor();
  console.log(`The first chart adds               ${((bytes - first) / 1e6).toFixed(2)} MB\n`);
  await browser.close();
}
