import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const Manifest = z.object({
  version: z.string().default(''),
  dependencies: z.record(z.string(), z.string()).default({}),
  peerDependencies: z.record(z.string(), z.string()).default({}),
});

/** One installed `graphql`, and the packages of ours that load it. */
export interface GraphqlCopy {
  readonly folder: string;
  readonly version: string;
  readonly users: readonly string[];
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Returns the copies of `graphql` that the program and its dependencies would load, as Node finds them, which depends
 * on a project's way to install us. Classes of one copy are not those of another: with more than one, the schema can't
 * be made.
 * @throws Error if a manifest can't be read
 */
export function graphqlCopies(root = ROOT): readonly GraphqlCopy[] {
  const copies = new Map<string, { version: string; users: string[] }>();
  const seen = new Set<string>();
  const pending = [realpathSync(root)];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    if (seen.has(folder)) continue;
    seen.add(folder);
    const { dependencies, peerDependencies } = manifestIn(folder);
    for (const name of Object.keys({ ...dependencies, ...peerDependencies })) {
      const found = packageFrom(folder, name);
      // A peer may be optional.
      if (found === undefined) continue;
      pending.push(found);
      if (name !== 'graphql') continue;
      const copy = copies.get(found) ?? { version: manifestIn(found).version, users: [] };
      copy.users.push(nameOf(folder));
      copies.set(found, copy);
    }
  }
  return Array.from(copies, ([folder, copy]) => ({ folder, ...copy }));
}

/** Returns the generation of `graphql` that our code is written for. */
export function ownGeneration(root = ROOT): string {
  return /\d+/.exec(manifestIn(root).dependencies.graphql ?? '')?.[0] ?? '';
}

function manifestIn(folder: string): z.infer<typeof Manifest> {
  return Manifest.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
}

/** Returns the folder of a package as Node finds it from that of another. */
function packageFrom(folder: string, name: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const found = join(at, 'node_modules', name);
    if (existsSync(join(found, 'package.json'))) return realpathSync(found);
    if (at === dirname(at)) return undefined;
  }
}

function nameOf(folder: string): string {
  return /(?:@[^/\\]+[/\\])?[^/\\]+$/.exec(folder)?.[0] ?? folder;
}
