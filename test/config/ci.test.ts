import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, cp, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { mergedSections, sectionOf } from '../../scripts/release.ts';

const { on, jobs } = parse(readFileSync('.github/workflows/ci.yml', 'utf8'));
const ours = JSON.parse(readFileSync('package.json', 'utf8'));

interface Job {
  readonly steps: readonly { readonly run?: string }[];
}

describe('the workflow of a public forge', () => {
  const { release, ...checks } = jobs;

  it('the workflow of a public forge runs each job of `.ci/run` as a job of its own', () => {
    const [, all = ''] = /^\[ \$# -gt 0 \] \|\| set -- (.*)$/m.exec(readFileSync('.ci/run', 'utf8')) ?? [];
    expect(Object.keys(checks)).toEqual(all.split(' '));
    for (const [name, { steps }] of Object.entries<Job>(checks))
      expect(steps.map(({ run }) => run)).toContain(`.ci/run ${name}`);
  });

  it('the workflow of a public forge tries the package on the oldest Node and on the newest', () => {
    expect(jobs.programs.strategy.matrix.node).toEqual([22, 24]);
    expect(ours.engines.node).toMatch(/^>=22\./);
  });

  it('the workflow of a public forge leaves campaigns to the night, and to releases', () => {
    expect(Object.keys(checks).filter((name) => checks[name].if !== undefined)).toEqual(['campaigns']);
    expect(checks.campaigns.if).toContain("github.event_name == 'schedule'");
    expect(checks.campaigns.if).toContain("startsWith(github.ref, 'refs/tags/v')");
    expect(on.schedule).toHaveLength(1);
  });

  it('the workflow of a public forge runs scripts that there are, and releases only what was checked', () => {
    const text: string = JSON.stringify(jobs);
    const scripts = [...text.matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(([, name]) => name);
    expect(scripts).toEqual(['release']);
    for (const name of scripts) expect(ours.scripts).toHaveProperty([name ?? '']);
    expect(release.needs).toEqual(Object.keys(checks));
    expect(text).toContain('--build-arg COMMIT=');
    expect(text).toContain('actions/attest-build-provenance');
    expect(text).toContain('--provenance');
    expect(release.permissions).toEqual({
      contents: 'write',
      'id-token': 'write',
      attestations: 'write',
    });
  });
});

describe('the changelog', () => {
  const CHANGELOG =
    '# Changelog\n\n## 1.10.0\n\n- ten\n\n## 1.1.0\n\n### Added\n\n- one\n\n## 1.0.0\n\n- zero\n';

  it.for([
    ['1.10.0', '- ten'],
    ['1.1.0', '### Added\n\n- one'],
    ['1.1', ''],
    ['', ''],
  ] as const)('the changelog has for %s a section of its own, or none', ([version, expected]) => {
    expect(sectionOf(CHANGELOG, version)).toBe(expected);
  });

  it('a version that was never released takes in the section of what came since', () => {
    const merged = mergedSections(CHANGELOG);
    expect(merged).toBe('# Changelog\n\n## 1.1.0\n\n### Added\n\n- one\n\n- ten\n\n## 1.0.0\n\n- zero\n');
    expect(sectionOf(merged, '1.1.0')).toBe('### Added\n\n- one\n\n- ten');
  });

  it('the changelog has a section for the version of the package', () => {
    expect(sectionOf(readFileSync('CHANGELOG.md', 'utf8'), ours.version)).not.toBe('');
  });
});

describe('docker/pin.sh', () => {
  it('docker/pin.sh writes the digest that the registry has today behind each tag, once and again', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'country-graph-pin-'));
    for (const file of ['pin.sh', 'Dockerfile', 'compose.yaml'])
      await cp(join('docker', file), join(folder.path, file));
    const docker = join(folder.path, 'docker');
    const pin = async (digit: string, ...args: string[]) => {
      await writeFile(docker, `#!/bin/sh\nprintf 'sha256:%064d' ${digit}\n`);
      await chmod(docker, 0o755);
      const env = { ...process.env, PATH: `${folder.path}:${process.env.PATH}` };
      return (await promisify(execFile)(join(folder.path, 'pin.sh'), args, { env })).stdout;
    };
    const read = () => readFile(join(folder.path, 'Dockerfile'), 'utf8');
    const before = await read();
    expect(await pin('1', '--print')).toMatch(/^node:24-slim@sha256:0{63}1$/m);
    expect(await read()).toBe(before);
    for (const digit of ['1', '2']) {
      await pin(digit);
      const froms = (await read()).split('\n').filter((line) => line.startsWith('FROM'));
      expect(froms).toHaveLength(3);
      for (const from of froms)
        expect(from).toMatch(new RegExp(`^FROM node:24-slim@sha256:0{63}${digit}( AS \\w+)?$`));
      const compose = await readFile(join(folder.path, 'compose.yaml'), 'utf8');
      for (const { image } of Object.values<{ image: string }>(parse(compose, { merge: true }).services))
        expect(image).toMatch(new RegExp(`^country-graph$|@sha256:0{63}${digit}$`));
    }
    expect((await read()).replaceAll(/@sha256:\d+/g, '')).toBe(before);
  });

  it('docker/pin.sh stops where there is no digest', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'country-graph-pin-'));
    for (const file of ['pin.sh', 'Dockerfile', 'compose.yaml'])
      await cp(join('docker', file), join(folder.path, file));
    await writeFile(join(folder.path, 'docker'), '#!/bin/sh\necho nothing\n', { mode: 0o755 });
    const env = { ...process.env, PATH: `${folder.path}:${process.env.PATH}` };
    const { status, stderr } = spawnSync(join(folder.path, 'pin.sh'), { env, encoding: 'utf8' });
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^No digest for .+: nothing\n$/)]);
    expect(await readFile(join(folder.path, 'Dockerfile'), 'utf8')).not.toContain('@sha256');
  });
});
