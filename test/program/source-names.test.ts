import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { openProgram } from '../support/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'source-names-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A file of names. */
function fileOf(text: string): string {
  const path = join(folder, `${Math.random()}.json`);
  writeFileSync(path, text);
  return path;
}

const NAMES = fileOf(
  JSON.stringify({
    un_wpp: { name: 'United Nations, World Population Prospects', url: 'https://population.un.org/wpp/' },
    nowhere: { name: 'A source that the service does not list' },
  }),
);

const FIGURE =
  '{ country(code: "KE") { observation(metricKey: "population_total") { source { key } text: citation bib: citation(style: BIBTEX) } } }';

describe('a citation in the graph', () => {
  it('a citation in the graph names the source by its key, and takes no call beyond that of the figure', async () => {
    await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
    const { data, errors } = await program.ask(FIGURE);
    expect(errors).toEqual([]);
    expect(program.requests()).toHaveLength(1);
    const { source, text, bib } = data.country.observation;
    expect(text).toMatch(
      new RegExp(`^${source.key}\\. .*Kenya, \\d{4}\\. .*Retrieved \\d{4}-\\d{2}-\\d{2}\\.$`),
    );
    expect(bib).toMatch(/^@misc\{[\w]+,\n/);
    // Held figures are cited at no call at all.
    await program.ask(`{ again: ${FIGURE.slice(1)}`);
    expect(program.requests()).toEqual([]);
  });

  it('a citation in the graph costs nothing beforehand either', async () => {
    await using program = await openProgram();
    const priceOf = async (query: string) =>
      (await program.ask(query, { headers: { 'x-explain': '1' } })).extensions.explain;
    expect(await priceOf(FIGURE)).toEqual(await priceOf(FIGURE.replace(/text.*BIBTEX\)/, '')));
  });

  it('a citation in the graph names it as the operator does', async () => {
    await using plain = await openProgram();
    const { key } = (await plain.ask(FIGURE)).data.country.observation.source;
    const file = fileOf(JSON.stringify({ [key]: { name: 'The Office', url: 'https://office.example/' } }));
    await using program = await openProgram({ env: { SOURCE_NAMES: file } });
    const { data } = await program.ask(FIGURE);
    expect(data.country.observation.text).toMatch(/^The Office\. .* https:\/\/office\.example\/$/);
    expect(program.requests()).toHaveLength(1);
  });
});

describe('names of sources', () => {
  it('names of sources are those of the service before those of the operator, from one call', async () => {
    await using plain = await openProgram();
    const [first] = (await plain.ask('{ sources { key name url } }')).data.sources;
    expect(first.name).not.toBeNull();
    expect(first.url).toBeNull();
    const file = fileOf(
      JSON.stringify({ [first.key]: { name: 'Another', url: 'https://another.example/' } }),
    );
    await using program = await openProgram({ env: { SOURCE_NAMES: file } });
    const { data } = await program.ask('{ sources { key name url } }');
    expect(data.sources[0]).toEqual({ ...first, url: 'https://another.example/' });
    expect(program.requests()).toHaveLength(1);
  });

  it.for<[string, string, string]>([
    ['no JSON', '{', 'is no JSON'],
    ['a list', '[]', ', line 1: '],
    ['a source without a name', '{"a": {"url": "https://a.example"}}', ', line 1: a: name: must be a text'],
    ['an empty name', '{"a": {"name": " "}}', ', line 1: a: name: must not be empty (got " ")'],
    [
      'an address of another kind',
      '{"a": {"name": "A", "url": "javascript:1"}}',
      'a: url: must be an http:// or https:// address',
    ],
    ['a word that says nothing', '{"a": {"name": "A", "link": "x"}}', ', line 1: a: '],
  ])('names of sources are refused at start: %s', ([, text, fault]) => {
    const file = fileOf(text);
    expect(() => readConfig({ SOURCE_NAMES: file })).toThrow(ConfigError);
    expect(() => readConfig({ SOURCE_NAMES: file })).toThrow(fault);
    expect(() => readConfig({ SOURCE_NAMES: file })).toThrow('SOURCE_NAMES: ');
  });

  it('names of sources are refused at start where there is no such file', () => {
    expect(() => readConfig({ SOURCE_NAMES: join(folder, 'none') })).toThrow(
      /SOURCE_NAMES: .*none can't be read: ENOENT/,
    );
  });

  it('names of sources may be those of sources that nobody has heard of', () => {
    expect(readConfig({ SOURCE_NAMES: NAMES }).sourceNames?.get('nowhere')).toEqual({
      name: 'A source that the service does not list',
      url: null,
    });
  });
});
