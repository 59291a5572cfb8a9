import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const MAX_PACKAGES = 550;

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: unknown;
}

const LOCKS = ['.', 'clients/graphiql', 'test/federation', 'test/readers', 'clients/recipes', 'bench/peers'];

function locked(folder: string): Readonly<Record<string, Locked>> {
  const { '': _, ...packages } = JSON.parse(readFileSync(`${folder}/package-lock.json`, 'utf8')).packages;
  return packages;
}

describe('the lock', () => {
  const packages = locked('.');

  it('the lock is light', () => {
    expect(Object.keys(packages).length).toBeLessThanOrEqual(MAX_PACKAGES);
    expect(Object.keys(packages).length).toBeGreaterThan(100);
  });

  it('the lock has all that is installed: no package fetches more by a script of its own', () => {
    const withScripts = Object.entries(packages).filter(([, one]) => one.hasInstallScript && !one.optional);
    // Its script compares the form of version ranges, and fetches nothing.
    expect(withScripts.map(([name]) => name)).toEqual(['node_modules/@apollo/protobufjs']);
    const unproved = Object.entries(packages).filter(([, { integrity }]) => integrity === undefined);
    expect(unproved.map(([name]) => name)).toEqual(['node_modules/country-graph-node']);
  });

  it('the lock has the binaries of Node that `scripts/node` names, for development alone', () => {
    const { optionalDependencies } = JSON.parse(readFileSync('scripts/node/package.json', 'utf8'));
    for (const [name, version] of Object.entries(optionalDependencies)) {
      expect(packages[`node_modules/${name}`]).toMatchObject({ version, dev: true, optional: true });
      expect(packages[`node_modules/${name}`]?.os).toBeDefined();
    }
  });

  it.for(LOCKS)('the lock of %s names no address', (folder) => {
    const addresses = Object.values(locked(folder)).map(({ resolved }) => resolved);
    const folders = addresses.filter((address) => address !== undefined);
    // A package that is a folder of this project.
    expect(folders).toEqual(folder === '.' ? ['file:scripts/node'] : folders.filter(isFolder));
  });

  it('the lock needs no override', () => {
    for (const folder of ['.', 'clients/graphiql']) {
      expect(JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))).not.toHaveProperty('overrides');
    }
  });
});

const isFolder = (address: string) => !/:\/\//.test(address);
