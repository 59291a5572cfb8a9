import { readFileSync } from 'node:fs';
import { ChangeType, CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { headOf } from '../../scripts/release.ts';
import { openProgram } from '../support/program.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const changesOf = (before: string, after: string) => {
  const schemaOf = (sdl: string) => buildSchema(sdl, { assumeValid: true, assumeValidSDL: true });
  return diff(schemaOf(before), schemaOf(after));
};

/** Changes that break operations written for the one schema and run on the other, by the coordinates they concern. */
async function breaking(before: string, after: string): Promise<string[]> {
  const changes = await changesOf(before, after);
  return changes
    .filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking)
    .map(({ path, message }) => path ?? message);
}

/** Values that an enum of the one schema has on the other besides: apps that were built before don't know them. */
async function furtherValues(before: string, after: string): Promise<string[]> {
  const changes = await changesOf(before, after);
  return changes
    .filter(
      ({ type, criticality }) =>
        type === ChangeType.EnumValueAdded && criticality.level === CriticalityLevel.Dangerous,
    )
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

  it('adds no value to an enum of the last release that the changelog does not name', async () => {
    await using program = await openProgram();
    const sdl = await (await fetch(new URL('/schema.graphql', program.url))).text();
    const [unreleased = ''] = /## Unreleased[\s\S]*?(?=\n## |$)/.exec(read('CHANGELOG.md')) ?? [];
    const [named = ''] = /^- New values of enums[\s\S]*?(?=\n- |\n\n)/m.exec(unreleased) ?? [];
    const values = await furtherValues(read('docs/released.graphql'), sdl);
    expect(values.filter((value) => !named.includes(`\`${value}\``))).toEqual([]);
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
    const known = released.replace(/^( +)FORBIDDEN$/m, '$1FORBIDDEN\n$1NEWER');
    expect(known).not.toBe(released);
    expect(await furtherValues(released, known)).toEqual(['ErrorCode.NEWER']);
  });
});
