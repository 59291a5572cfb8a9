import { readdirSync, readFileSync } from 'node:fs';
import { ChangeType, CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { headOf, sectionOf } from '../../scripts/release.ts';
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

const { version } = JSON.parse(read('package.json'));
const released = read('docs/released.graphql');

/** What users are told of since the graph of `docs/released.graphql`: changesets, and the section of a version that is not released yet. */
const toldChanges = [
  ...readdirSync('.changeset')
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .map((file) => read(`.changeset/${file}`)),
  released.startsWith(headOf(version, true)) ? '' : sectionOf(read('CHANGELOG.md'), version),
].join('\n');

describe('the schema', () => {
  it('the schema breaks nothing of the last release that no changeset names', async () => {
    await using program = await openProgram();
    const sdl = await (await fetch(new URL('/schema.graphql', program.url))).text();
    const broken = await breaking(released, sdl);
    expect(broken.filter((coordinate) => !toldChanges.includes(`\`${coordinate}\``))).toEqual([]);
  });

  it('the schema adds no value to an enum of the last release that no changeset names', async () => {
    await using program = await openProgram();
    const sdl = await (await fetch(new URL('/schema.graphql', program.url))).text();
    const values = await furtherValues(released, sdl);
    expect(values.filter((value) => !toldChanges.includes(`\`${value}\``))).toEqual([]);
  });

  it('the released schema says of which version it is', () => {
    expect([headOf(version, true), headOf(version, false)]).toContain(released.split(/(?<=\n)/, 1)[0]);
  });

  it('a break and a further value of an enum are found', async () => {
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
