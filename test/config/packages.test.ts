import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { isAllowed, licenceIn } from '../../scripts/allowed-licences.ts';
import { readLock, runTimePackages } from '../../scripts/run-time-packages.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string) => readFileSync(`${ROOT}${file}`, 'utf8');
const run = promisify(execFile);

/** Folders with dependencies of their own. */
const WITH_LOCKS = new Set([
  'clients/graphiql',
  'bench/peers',
  'test/federation',
  'test/readers',
  'clients/recipes',
]);

const installed = runTimePackages(readLock());
const ours = JSON.parse(read('package.json'));

describe('docs/dependencies.md', () => {
  const text = read('docs/dependencies.md');
  const rows = [...text.matchAll(/^\| `([^`]+)` \|.*\| ([^|]+) \|$/gm)];

  it('docs/dependencies.md has a row for each dependency, with the licence that the package names', () => {
    const expected = Object.keys(ours.dependencies).map((name) => [
      name,
      licenceIn(JSON.parse(read(`node_modules/${name}/package.json`))),
    ]);
    expect(rows.map(([, name, licence]) => [name, licence])).toEqual(expected);
  });

  it('docs/dependencies.md names development dependencies that are there', () => {
    const [, development = ''] = text.split('**Development dependencies**');
    const names = [...development.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(10);
    const isFile = (name: string) => /^(codegen|(scripts|test)\/.*)(\.ts)?$|^npm /.test(name);
    const others = names.filter(
      (name) => !(name in ours.devDependencies) && !WITH_LOCKS.has(name) && !isFile(name),
    );
    expect(others).toEqual([]);
  });
});

describe('what is installed to run', () => {
  it('what is installed to run is what is not for development alone', () => {
    const names = Object.keys(ours.dependencies).map((name) => `node_modules/${name}`);
    expect(Object.keys(installed)).toEqual(expect.arrayContaining(names));
    expect(Object.keys(installed)).not.toContain('node_modules/vitest');
    expect(Object.keys(installed)).not.toContain('');
  });

  it('what is installed to run has licences that are allowed', async () => {
    const { stdout, stderr } = await run(process.execPath, ['scripts/licences.ts'], { cwd: ROOT });
    expect([stdout, stderr]).toEqual([expect.stringMatching(/^\d+ MIT, /), '']);
  });

  it('what is installed to run is in the SBOM, and nothing else', async () => {
    const { stdout } = await run(process.execPath, ['scripts/sbom.ts'], { cwd: ROOT, maxBuffer: 1e7 });
    const { bomFormat, metadata, components } = JSON.parse(stdout);
    expect([bomFormat, metadata.component.name, metadata.component.type]).toEqual([
      'CycloneDX',
      ours.name,
      'application',
    ]);
    const listed = components.map(({ name, version }: Record<string, string>) => `${name}@${version}`);
    const expected = Object.entries(installed).map(
      ([folder, { version }]) => `${folder.replace(/^.*node_modules\//, '')}@${version}`,
    );
    expect(new Set(listed)).toEqual(new Set(expected));
    for (const { licenses } of components) expect(licenses).toHaveLength(1);
  });
});

describe('a licence', () => {
  it.for([
    ['MIT', true],
    ['(MIT AND BSD-3-Clause)', true],
    ['(GPL-3.0-only OR MIT)', true],
    ['MIT AND GPL-3.0-only', false],
    ['(MIT OR ISC) AND (GPL-3.0-only)', false],
    ['GPL-3.0-only OR (MIT AND ISC)', false],
    ['Apache-2.0 WITH LLVM-exception', false],
    ['SEE LICENSE IN LICENSE.md', false],
    ['no licence', false],
    ['', false],
  ] as const)('the licence %s is allowed: %s', ([licence, expected]) => {
    expect(isAllowed(licence)).toBe(expected);
  });

  it('a licence is read where packages put it', () => {
    expect(licenceIn({ license: 'ISC' })).toBe('ISC');
    expect(licenceIn({ licenses: [{ type: 'MIT' }] })).toBe('[{"type":"MIT"}]');
    expect(licenceIn({})).toBe('no licence');
  });
});
