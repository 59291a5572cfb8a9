import type { Request } from 'playwright-core';
import { openBrowser } from '../test/support/chromium.ts';
import { openProgram } from '../test/support/program.ts';

/** A slow network: 9 Mbit/s and a round trip of 170 ms. */
const LINE = { offline: false, latency: 170, downloadThroughput: 9e6 / 8, uploadThroughput: 9e6 / 8 };

/** Prints what a browser loads over a slow network until GraphiQL shows its first picture, and then for the editor. */
export async function printWeight(): Promise<void> {
  console.log('## Transfer size of GraphiQL, compressed, at 9 Mbit/s and 170 ms\n');
  const browser = await openBrowser().catch(() => null);
  if (browser === null) {
    console.log('Skipped: there is no Chromium on this machine.\n');
    return;
  }
  await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
  const context = await browser.newContext();
  const page = await context.newPage();
  const line = await context.newCDPSession(page);
  await line.send('Network.enable');
  await line.send('Network.emulateNetworkConditions', LINE);
  const sizes: Promise<number>[] = [];
  const onFinished = (request: Request) => {
    sizes.push(request.sizes().then((size) => size.responseBodySize + size.responseHeadersSize));
  };
  const received = async () => (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
  page.on('requestfinished', onFinished);
  const begun = performance.now();
  const seconds = () => `${((performance.now() - begun) / 1000).toFixed(1)} s`;
  await page.goto(`${new URL(program.url).origin}/graphiql`, { waitUntil: 'commit' });
  await page.locator('.start .questions button').first().click();
  await page.locator('.picture svg').first().waitFor();
  const picture = seconds();
  const requests = sizes.length;
  const first = await received();
  console.log(`First picture: ${(first / 1e6).toFixed(2)} MB in ${requests} requests, after ${picture}`);
  await page.locator('.graphiql-query-editor .view-line').first().waitFor();
  const editor = seconds();
  await page.waitForLoadState('networkidle');
  page.off('requestfinished', onFinished);
  console.log(`The editor adds ${(((await received()) - first) / 1e6).toFixed(2)} MB, after ${editor}\n`);
  await browser.close();
}

// `npm run bench:weight` runs only this.
if (import.meta.main) await printWeight();
