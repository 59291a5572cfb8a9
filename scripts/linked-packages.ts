import { cp, mkdir, readdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readLock, runTimePackages } from './run-time-packages.ts';

/**
 * Links the installed packages of this checkout into a copy of it. Bundled dependencies are copied instead, since `npm pack`
 * doesn't follow links.
 */
export async function linkPackages(from: string, to: string): Promise<void> {
  const bundled = Object.entries(runTimePackages(readLock())).filter(([, { inBundle = false }]) => inBundle);
  for (const [path] of bundled)
    await cp(join(from, path), join(to, path), { recursive: true }).catch((error) => {
      // Nested packages were copied with the package around them.
      if (path.lastIndexOf('node_modules/') === 0) throw error;
    });
  const modules = join(from, 'node_modules');
  for (const name of await readdir(modules)) {
    const names = name.startsWith('@')
      ? (await readdir(join(modules, name))).map((part) => join(name, part))
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
