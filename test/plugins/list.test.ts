import { describe, expect, it } from 'vitest';
import type { PluginDefinition } from '../../src/plugin/definition.ts';
import { plugins } from '../../src/plugins.ts';
import { openProgram, type Program } from '../support/program.ts';

const QUERY =
  '{ observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) { value } }';

const ENV = {
  CACHE_URL: 'memory:',
  SUBSCRIPTIONS: 'on',
  EXTRA_ROUTES: 'trade,policy',
  JOURNAL_FILE: ':memory:',
};

const post = ({ url }: Program, key: string, body: unknown, accept = 'application/json') =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, accept },
    body: JSON.stringify(body),
  });

/** Ways to ask for the same figure, each by the plugin that brings it. */
const WAYS: Readonly<Record<string, (program: Program, key: string) => Promise<Response>>> = {
  '': (program, key) => post(program, key, { query: QUERY }),
  'csv-tables': (program, key) => post(program, key, { query: QUERY }, 'text/csv'),
  batches: (program, key) => post(program, key, [{ query: QUERY }]),
};

const SETS: readonly (readonly [name: string, set: readonly PluginDefinition[]])[] = [
  ['all plugins', plugins],
  ['no plugin', []],
  ...plugins.map((plugin) => [`${plugin.name} alone`, [plugin]] as const),
];

describe.each(SETS)('with %s', (_, set) => {
  it('no key is answered by figures that another has asked for, and none without its own', async () => {
    await using program = await openProgram({ env: ENV, shipped: set });
    const ways = Object.entries(WAYS).filter(([by]) => by === '' || set.some(({ name }) => name === by));
    const { team, free } = program.sandbox.keys;
    expect((await WAYS['']?.(program, team))?.status).toBe(200);
    expect(program.requests()).toHaveLength(1);
    for (const [by, ask] of ways) {
      // By each way it is cached for the one who has asked, and for nobody else.
      expect([by, (await ask(program, team)).status, program.requests()]).toEqual([by, 200, []]);
      expect(await (await ask(program, `made up for ${by}`.replaceAll(' ', '-'))).text()).toContain(
        'UNAUTHENTICATED',
      );
      expect([by, program.requests().length]).toEqual([by, 1]);
    }
    expect((await WAYS['']?.(program, free))?.status).toBe(200);
    expect(program.requests()).toHaveLength(1);
  });
});

describe('the order of the list', () => {
  const table = plugins.filter(({ name }) => name === 'csv-tables' || name === 'batches');
  const asTable = async (shipped: readonly PluginDefinition[]) => {
    await using program = await openProgram({ env: ENV, shipped });
    const answer = await post(program, program.sandbox.keys.team, [{ query: QUERY }], 'text/csv');
    return { status: answer.status, text: await answer.text() };
  };

  it('has a batch refused as a table, before it is taken apart', async () => {
    expect(await asTable(plugins)).toMatchObject({
      status: 406,
      text: expect.stringContaining('A table is made of one operation'),
    });
    // It is the order that decides so.
    expect((await asTable(table.toReversed())).text).not.toContain('A table is made of one operation');
  });
});
