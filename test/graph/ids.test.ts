import { describe, expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';

// biome-ignore lint/suspicious/noExplicitAny: rows of whatever the sandbox sends
type Rows = any[];

/** A service that has each figure of population_total several times over. */
async function openTwins(...differences: readonly object[]) {
  const program = await openProgram();
  program.sandbox.faults.set({
    kind: 'shape',
    route: '/v1/data',
    patch: ({ data }: { data: Rows }) => ({
      data: data.flatMap((row) => differences.map((difference) => ({ ...row, ...difference }))),
    }),
  });
  return program;
}

const FIGURES =
  '{ observations(countryCodes: ["KE"], metricKeys: ["population_total"], fromYear: 2023) { id value datasetVersion } }';
const NODE = 'query ($id: ID!) { node(id: $id) { id ... on Observation { value datasetVersion } } }';

const REVISED = { value: 7, retrieved_at: '2027-01-02T03:04:05.6Z' };

describe('the identifiers of figures', () => {
  it.each([
    ['release', { dataset_version: 'a' }, { dataset_version: 'b' }, { dataset_version: null }],
    ['source', { source: 'a' }, { source: 'b' }],
    ['status', { value_status: 'reported' }, { value_status: 'projected' }],
    ['unit', { unit: 'persons' }, { unit: 'households' }],
    ['place', { location_name: null }, { location_name: 'Nairobi' }],
    ['point in time', { as_of_period: '2023-01-01' }, { as_of_period: '2023-07-01' }],
  ])(
    'the identifiers of figures that differ by %s are different, and find each its own',
    async (_, ...differences: readonly (string | object)[]) => {
      await using program = await openTwins(
        ...differences.map((one, value) => ({ ...(one as object), value })),
      );
      const { observations } = (await program.ask(FIGURES)).data;
      const ids = new Set(observations.map(({ id }: { id: string }) => id));
      expect(observations.length).toBeGreaterThanOrEqual(2 * differences.length);
      expect(ids.size).toBe(observations.length);
      for (const { id, ...figure } of observations) {
        const { data, errors, extensions } = await program.ask(NODE, { variables: { id } });
        expect(errors).toEqual([]);
        expect(data.node).toEqual({ id, ...figure });
        expect(extensions.warnings).toBeUndefined();
      }
    },
  );

  it.each([
    ['of two sources', { source: 'a' }, { source: 'b', value: 2 }],
    ['of one source, that differ in value', { value: 1 }, { value: 2 }],
    ['that are copies', {}, {}],
  ])(
    'the identifiers of figures %s are one for a row in a series, as the latest and as an operand',
    async (_, ...differences: readonly (string | object)[]) => {
      const row = 'value source { key } period datasetVersion id';
      const names = 'countryCodes: ["KE"], metricKeys: ["population_total"]';
      const texts = [
        `{ x: observations(${names}) { ${row} } y: observations(${names}, latest: true) { ${row} } }`,
        `{ y: observations(${names}, latest: true) { ${row} per(metricKey: "gdp_current_usd") { operands { ${row} } } } }`,
        `{ x: observations(${names}) { ${row} } }`,
      ];
      // The series alone at last, by a gateway that holds it, and by one that doesn't.
      for (const order of [texts, texts.toReversed()]) {
        const idOf = new Map<string, string>();
        await using program = await openTwins(...(differences as readonly object[]));
        for (const text of order) {
          const { data } = await program.ask(text);
          const rows = [...(data.x ?? []), ...(data.y ?? []), ...(data.y?.[0]?.per?.operands ?? [])];
          for (const { id, ...said } of rows) {
            const known = idOf.get(JSON.stringify(said)) ?? id;
            expect(id).toBe(known);
            idOf.set(JSON.stringify(said), id);
          }
        }
        expect(idOf.size).toBeGreaterThan(10);
      }
    },
  );

  it('the identifiers of figures of rows that only their value tells apart are one, and a warning says so', async () => {
    await using program = await openTwins({ value: 1 }, { value: 2 });
    const { data, extensions, upstream } = await program.ask(FIGURES);
    const ids = data.observations.map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(ids.length / 2);
    expect((extensions.warnings as object[])[0]).toMatchObject({
      code: 'SEVERAL_FIGURES',
      message: expect.stringContaining('share an id'),
      sources: ['world_bank_wdi'],
    });
    expect(upstream.calls).toBe(1);
  });

  it('the identifiers of figures are the same wherever a figure is found twice', async () => {
    await using program = await openTwins({}, {});
    const { observations } = (await program.ask(FIGURES)).data;
    const ids = [...new Set(observations.map(({ id }: { id: string }) => id))];
    const wanted = [ids[1], ids[0], ids[1]];
    const { data } = await program.ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      variables: { ids: wanted },
    });
    expect(data.nodes.map(({ id }: { id: string }) => id)).toEqual(wanted);
  });

  it('the identifiers of figures of earlier versions of the gateway, which have fewer parts, still find one', async () => {
    await using program = await openTwins({ dataset_version: 'a' }, { dataset_version: 'b' });
    const { observations } = (await program.ask(FIGURES)).data;
    for (const { id, ...figure } of observations.slice(0, 2)) {
      const parts = JSON.parse(Buffer.from(id, 'base64url').toString());
      const earlier = Buffer.from(JSON.stringify(parts.slice(0, 9))).toString('base64url');
      const { data, extensions } = await program.ask(NODE, { variables: { id: earlier } });
      expect(data.node).toEqual({ id, ...figure });
      expect(extensions.warnings).toBeUndefined();
    }
  });

  it.each([
    ['release', { dataset_version: 'v1' }, { ...REVISED, dataset_version: 'v2' }],
    ['first release', { dataset_version: null }, { ...REVISED, dataset_version: 'v2' }],
    ['status', { value_status: 'estimate' }, { ...REVISED, value_status: 'reported' }],
    ['spelling of the period', { period: '2024', year: 2024 }, { ...REVISED, period: '2024-A1', year: 2024 }],
  ])('the identifiers of figures outlive another %s, and say so', async (_, before, after) => {
    await using program = await openTwins(before);
    const { observations } = (await program.ask(FIGURES)).data;
    const { id } = observations.at(-1);
    await using later = await openTwins(after);
    const text = `query ($id: ID!, $all: [_Any!]!) {
      node(id: $id) { id ... on Observation { value } }
      _entities(representations: $all) { ... on Observation { id value } } }`;
    const variables = { id, all: [{ __typename: 'Observation', id }] };
    const { data, errors, extensions, upstream } = await later.ask(text, { variables });
    expect(errors).toEqual([]);
    expect(data.node).toMatchObject({ value: 7 });
    expect(data.node.id).not.toBe(id);
    expect(data._entities).toEqual([data.node]);
    const warnings = extensions.warnings as readonly { code: string; path: readonly string[] }[];
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.code).toBe('REVISED_SINCE');
    expect(['node', '_entities']).toContain(warnings[0]?.path[0]);
    expect(upstream.calls).toBe(1);
  });

  it('the identifiers of figures are the same after a revision of the value alone, and without a warning', async () => {
    await using program = await openTwins({});
    const { id } = (await program.ask(FIGURES)).data.observations.at(-1);
    await using later = await openTwins(REVISED);
    const { data, extensions } = await later.ask(NODE, { variables: { id } });
    expect(data.node).toMatchObject({ id, value: 7 });
    expect(extensions.warnings).toBeUndefined();
  });

  it('the identifiers of figures find nothing, and no figure of another source, once the service holds none', async () => {
    await using program = await openTwins({ source: 'a' });
    const { id } = (await program.ask(FIGURES)).data.observations.at(-1);
    await using later = await openTwins({ source: 'b' });
    const { data, errors } = await later.ask(NODE, { variables: { id } });
    expect({ data, errors }).toEqual({ data: { node: null }, errors: [] });
  });
});

describe('the identifiers of offices', () => {
  it('the identifiers of offices of one name and role are different, and find each its own', async () => {
    await using program = await openProgram();
    program.sandbox.faults.set({
      kind: 'shape',
      route: '/v1/government/structure/{code}',
      patch: ({ data }) => ({
        data: {
          ...data,
          offices: data.offices.flatMap((office: object) => [office, { ...office, terms: [] }]),
        },
      }),
    });
    const fields = 'id name terms { holder }';
    const { country } = (await program.ask(`{ country(code: "KE") { offices { ${fields} } } }`)).data;
    expect(new Set(country.offices.map(({ id }: { id: string }) => id)).size).toBe(country.offices.length);
    for (const office of country.offices.slice(0, 4)) {
      const text = `query ($id: ID!) { node(id: $id) { ... on Office { ${fields} } } }`;
      expect((await program.ask(text, { variables: { id: office.id } })).data.node).toEqual(office);
    }
  });
});
