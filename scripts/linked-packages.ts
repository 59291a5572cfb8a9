import { cp, mkdir, readdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readLock, runTimePackages } from './run-time-packages.ts';

/**
 * Gives a copy of the checkout the packages that this one has installed, by links. Those that are packed with ours are
 * copied: npm packs no links.
 */
export async function linkPackages(from: string, to: string): Promise<void> {
  const bundled = Object.entries(runTimePackages(readLock())).filter(([, { inBundle = false }]) => inBundle);
  for (const [path] of bundled)
    await cp(join(from, path), join(to, path), { recursive: true }).catch((fault) => {
      // Passes over packages within others: they came with them.
      if (path.lastIndexOf('node_modules/') === 0) throw fault;
    });
  const modules = join(from, 'node_modules');
  for (const name of await readdir(modules)) {
    const names = name.startsWith('@')
      ? (await readdir(join(modules, name))).map((own) => join(name, own))
      : [name];
    for (const one of names) {
      const target = join(to, 'node_modules', one);
      await mkdir(dirname(target), { recursive: true });
      await symlink(join(modules, one), target).catch(({ code }) => {
        if (code !== 'EEXIST') throw new Error(`${target}: ${code}`);
      });
    }
  }
}
