import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KeyDesk } from '../src/plugins/issued-keys/key-desk.ts';
import { openFiles } from '../test/address/publishing.ts';
import { openKeyStore } from '../test/support/key-store.ts';
import { startServing } from '../test/support/serving.ts';

const HERE = fileURLToPath(new URL('../', import.meta.url));

/** Serves GraphiQL and, by a second program, public pages from a checkout with built pages, over the sandbox. */
export async function serveCheckout(cacheUrl = 'memory:', root = HERE) {
  const { folder, env } = openFiles();
  const store = await openKeyStore(folder.cacheUrl, 1_000);
  await new KeyDesk(store, Date.now).create({ name: 'page' });
  await store.close();
  const pages = { ...env, CACHE_URL: folder.cacheUrl, COUNTRY_DATA_KEY: 'demo-team' };
  const bin = join(root, 'bin/country-graph.cjs');
  const start = async (settings: Readonly<Record<string, string>>) => {
    const { child, url } = await startServing({ cwd: root, bin, env: settings, isLogKept: true });
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    return { url, end };
  };
  const own = await start({ CACHE_URL: cacheUrl });
  const published = await start(pages);
  return {
    graphiql: new URL('/graphiql', own.url).href,
    pages: new URL('/c/', published.url).href,
    [Symbol.dispose]() {
      for (const { end } of [own, published]) end();
      folder[Symbol.dispose]();
    },
  };
}

/** Checks a revision out into a temporary folder and builds its pages, with the packages of this checkout. Removed when disposed of. */
export function openRevision(revision: string) {
  const root = mkdtempSync(join(tmpdir(), 'revision-'));
  execFileSync('git', ['worktree', 'add', '--detach', '--force', root, revision], {
    cwd: HERE,
    stdio: 'ignore',
  });
  // Older revisions have it in `src`.
  const [pages = ''] = globSync('{clients,src}/graphiql', { cwd: root });
  symlinkSync(join(HERE, 'node_modules'), join(root, 'node_modules'));
  symlinkSync(join(HERE, 'clients/graphiql/node_modules'), join(root, pages, 'node_modules'));
  for (const config of globSync(`${pages}/vite.*.ts`, { cwd: root }))
    execFileSync(
      join(HERE, 'node_modules/.bin/vite'),
      ['build', pages, '--config', config, '--logLevel', 'error'],
      { cwd: root, stdio: 'inherit' },
    );
  return {
    root,
    [Symbol.dispose]() {
      rmSync(root, { recursive: true, force: true });
      execFileSync('git', ['worktree', 'prune'], { cwd: HERE });
    },
  };
}
