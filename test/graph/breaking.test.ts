import { readFileSync } from 'node:fs';
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { headOf } from '../../scripts/release.ts';
import { openProgram } from '../support/program.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Changes that break operations written for the one schema and run on the other, by the coordinates they concern. */
async function breaking(before: string, after: string): Promise<string[]> {
  const schemaOf = (sdl: string) => buildSchema(sdl, { assumeValid: true, assumeValidSDL: true });
  const changes = await diff(schemaOf(before), schemaOf(after));
  return changes
    .filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking)
    .map(({ path, message }) => path ?? message);
}

describe('the schema', () => {
  it('breaks nothing of the last release that the changelog does not name', async () => {
    await using program = await openProgram();
    const sdl = await (await fetch(new URL('/schema.graphql', program.url))).text();
    const [unreleased = ''] = /## Unreleased[\s\S]*?(?=\n## |$)/.exec(read('CHANGELOG.md')) ?? [];
    const [named = ''] = /### Breaking[\s\S]*?(?=\n### |$)/.exec(unreleased) ?? [];
    const broken = await breaking(read('docs/released.graphql'), sdl);
    expect(broken.filter((coordinate) => !named.includes(`\`${coordinate}\``))).toEqual([]);
  });

  it('that is released says of which version it is', () => {
    const [, last] = /^## (\d+\.\d+\.\d+\S*)/m.exec(read('CHANGELOG.md')) ?? [];
    const { version } = JSON.parse(read('package.json'));
    expect(read('docs/released.graphql').startsWith(headOf(last ?? version, last !== undefined))).toBe(true);
  });

  it('would be found out', async () => {
    const released = read('docs/released.graphql');
    const without = released.replace(/^ {2}"""\n.*\n {2}"""\n {2}capital: String.*\n/m, '');
    expect(without).not.toBe(released);
    expect(await breaking(released, without)).toEqual(['Country.capital']);
    const stricter = released.replace('latest: Boolean = false', 'latest: Boolean!');
    expect(await breaking(released, stricter)).not.toEqual([]);
    const wider = released.replace(/^( {2}"""\n.*\n {2}"""\n {2}capital: String)/m, '  motto: String\n$1');
    expect(await breaking(released, wider)).toEqual([]);
  });
});
