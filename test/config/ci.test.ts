import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, cp, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { sectionOf } from '../../scripts/changelog.ts';
import { releasedChangelog } from '../../scripts/release.ts';

const { on, jobs } = parse(readFileSync('.github/workflows/ci.yml', 'utf8'));
const ours = JSON.parse(readFileSync('package.json', 'utf8'));

interface Job {
  readonly steps: readonly { readonly run?: string }[];
}

describe('the workflow of a public forge', () => {
  const { release, ...checks } = jobs;

  it('runs each job of `.ci/run` as a job of its own', () => {
    const [, all = ''] = /^\[ \$# -gt 0 \] \|\| set -- (.*)$/m.exec(readFileSync('.ci/run', 'utf8')) ?? [];
    expect(Object.keys(checks)).toEqual(all.split(' '));
    for (const [name, { steps }] of Object.entries<Job>(checks))
      expect(steps.map(({ run }) => run)).toContain(`.ci/run ${name}`);
  });

  it('tries the package on the oldest Node and on the newest', () => {
    expect(jobs.programs.strategy.matrix.node).toEqual([22, 24]);
    expect(ours.engines.node).toMatch(/^>=22\./);
  });

  it('leaves campaigns to the night, and to releases', () => {
    expect(Object.keys(checks).filter((name) => checks[name].if !== undefined)).toEqual(['campaigns']);
    expect(checks.campaigns.if).toContain("github.event_name == 'schedule'");
    expect(checks.campaigns.if).toContain("startsWith(github.ref, 'refs/tags/v')");
    expect(on.schedule).toHaveLength(1);
  });

  it('runs scripts that there are, and releases only what was checked', () => {
    const text: string = JSON.stringify(jobs);
    const scripts = [...text.matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(([, name]) => name);
    expect(scripts).toEqual(['changelog', 'clients:pack', 'sbom']);
    for (const name of scripts) expect(ours.scripts).toHaveProperty([name ?? '']);
    expect(release.needs).toEqual(Object.keys(checks));
    expect(text).toContain('--build-arg COMMIT=');
    expect(text).toContain('actions/attest-build-provenance');
    expect(release.permissions).toEqual({
      contents: 'write',
      'id-token': 'write',
      attestations: 'write',
    });
  });
});

describe('the changelog of a release', () => {
  const CHANGELOG =
    '# Changelog\n\n## Unreleased\n\n- new\n\n## 1.10.0 (2026-12-01)\n\n- ten\n\n## 1.1.0\n\n### Added\n\n- one\n';

  it.for([
    ['1.10.0', '- ten'],
    ['1.1.0', '### Added\n\n- one'],
    ['1.1', null],
    ['', null],
  ] as const)('of %s is its section', ([version, expected]) => {
    expect(sectionOf(CHANGELOG, version)).toBe(expected);
  });

  it('gets what was unreleased, once', () => {
    const released = releasedChangelog(CHANGELOG, '1.11.0', '2026-12-24') ?? '';
    expect(released).toContain('## Unreleased\n\n## 1.11.0 (2026-12-24)\n\n- new\n\n## 1.10.0');
    expect(sectionOf(released, '1.11.0')).toBe('- new');
    expect(releasedChangelog(released, '1.12.0', '2026-12-25')).toBe(null);
  });

  it.for([
    [`v${ours.version}`, /^(CHANGELOG\.md has no section ## |$)/],
    ['v9.9.9', /^The version of the package is .*, not "9\.9\.9"\.\n$/],
    ['', /^The version of the package is /],
  ] as const)('for the tag %s, or why there is none', ([tag, message]) => {
    const { stderr, stdout, status } = spawnSync(process.execPath, ['scripts/changelog.ts', tag], {
      encoding: 'utf8',
    });
    expect(stderr).toMatch(message);
    expect(status).toBe(stdout === '' ? 1 : 0);
  });
});

describe('docker/pin.sh', () => {
  it('writes the digest that the registry has today behind each tag, once and again', async () => {
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

  it('stops where there is no digest', async () => {
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
