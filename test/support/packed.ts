import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { linkPackages } from '../../scripts/linked-packages.ts';
import { readLock, runTimePackages } from '../../scripts/run-time-packages.ts';

const run = promisify(execFile);

/** Files that `npm pack` needs, in addition to the built ones. */
const COPIED = [
  'bin',
  'clients/README.md',
  'clients/client/README.md',
  'docker',
  'docs',
  'schema',
  'src',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'scripts/prepare.mjs',
  'scripts/bundle.mjs',
  'scripts/node',
];

/**
 * The package from `npm pack`, installed into an empty folder. Its dependencies that are not bundled, and no other packages,
 * are linked from this checkout, so that no registry is needed.
 * @param options.isBuilt true for the package as it was last built
 */
export async function installPacked({ isBuilt = false }: { readonly isBuilt?: boolean } = {}) {
  const root = process.cwd();
  const folder = await mkdtemp(join(tmpdir(), 'country-graph-packed-'));
  const source = join(folder, 'source');
  const home = join(folder, 'home');
  const modules = join(home, 'node_modules');
  const filter = (path: string) => !path.slice(root.length).includes('node_modules');
  for (const path of COPIED) await cp(join(root, path), join(source, path), { recursive: true, filter });
  // GraphiQL's pages are as `npm ci` has built them.
  await cp(join(root, 'dist'), join(source, 'dist'), { recursive: true });
  await linkPackages(root, source);
  if (isBuilt) await cp(join(root, 'lib'), join(source, 'lib'), { recursive: true });
  else await build(source);
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: source,
    maxBuffer: 2 ** 24,
  });
  const packed: unknown = JSON.parse(stdout);
  const installed = join(modules, 'country-graph');
  await mkdir(installed, { recursive: true });
  const tarball = join(
    folder,
    `country-graph-${JSON.parse(await readFile('package.json', 'utf8')).version}.tgz`,
  );
  await run('tar', ['xzf', tarball, '-C', installed, '--strip-components', '1']);
  for (const [path, { inBundle = false }] of Object.entries(runTimePackages(readLock()))) {
    // Nested packages come with the package around them.
    if (inBundle || path.lastIndexOf('node_modules/') > 0) continue;
    await mkdir(dirname(join(home, path)), { recursive: true });
    await symlink(join(root, path), join(home, path)).catch(() => {});
  }
  await writeFile(join(home, 'package.json'), '{ "type": "module" }\n');
  return {
    home,
    bin: join(installed, 'bin/country-graph.cjs'),
    tarball,
    /** What npm prints about the package. */
    packed,
    installed,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

async function build(source: string): Promise<void> {
  await run(process.execPath, ['scripts/prepare.mjs', '--without-pages'], {
    cwd: source,
    env: {
      ...process.env,
      COMMIT: '1a2b3c4',
      PATH: `${resolve('node_modules/.bin')}:${process.env.PATH}`,
    },
  });
}

export type Installed = Awaited<ReturnType<typeof installPacked>>;
