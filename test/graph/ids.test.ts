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

describe('the identifiers of figures', () => {
  it.each([
    [
      'their release',
      [
        { dataset_version: 'a', value: 1 },
        { dataset_version: 'b', value: 2 },
        { dataset_version: null, value: 3 },
      ],
    ],
    ['nothing that names them', [{ value: 1 }, { value: 2 }, { value: 3 }]],
    ['nothing at all', [{}, {}]],
  ])('that differ by %s are different, and find each its own', async (_, differences) => {
    await using program = await openTwins(...differences);
    const { observations } = (await program.ask(FIGURES)).data;
    const ids = new Set(observations.map(({ id }: { id: string }) => id));
    expect(observations.length).toBeGreaterThanOrEqual(2 * differences.length);
    expect(ids.size).toBe(observations.length);
    for (const { id, ...figure } of observations) {
      const { data, errors } = await program.ask(NODE, { variables: { id } });
      expect(errors).toEqual([]);
      expect(data.node).toEqual({ id, ...figure });
    }
  });

  it('are the same wherever a figure is found twice', async () => {
    await using program = await openTwins({}, {});
    const { observations } = (await program.ask(FIGURES)).data;
    const ids = observations.slice(0, 2).map(({ id }: { id: string }) => id);
    const wanted = [ids[1], ids[0], ids[1]];
    const { data } = await program.ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      variables: { ids: wanted },
    });
    expect(data.nodes.map(({ id }: { id: string }) => id)).toEqual(wanted);
  });

  it('of earlier releases, which name no release of the dataset, still find one', async () => {
    await using program = await openTwins({ dataset_version: 'a' }, { dataset_version: 'b' });
    const [{ id, ...first }] = (await program.ask(FIGURES)).data.observations;
    const parts = JSON.parse(Buffer.from(id, 'base64url').toString());
    const earlier = Buffer.from(JSON.stringify(parts.slice(0, 8))).toString('base64url');
    const { data } = await program.ask(NODE, { variables: { id: earlier } });
    expect(data.node).toEqual({ id, ...first });
  });
});

describe('the identifiers of offices', () => {
  it('of one name and role are different, and find each its own', async () => {
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
