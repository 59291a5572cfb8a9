import { describe, expect, it } from 'vitest';
import { listsIn } from '../../clients/graphiql/src/chart/answer-lists.ts';
import { csvOf, tableOf } from '../../clients/graphiql/src/chart/csv.ts';
import { openProgram } from '../support/program.ts';

describe('files of GraphiQL', () => {
  it.for([
    [
      '{ countries(codes: ["KE", "NG"]) { code name gdp: observation(metricKey: "gdp_current_usd") { value year source { key } } } }',
      2,
    ],
    [
      '{ countries(codes: ["KE", "EH"]) { name observations(metricKeys: ["life_expectancy"], fromYear: 2020) { year value } } }',
      2,
    ],
    ['{ country(code: "GH") { name offices { name terms { holder status } } } }', 2],
    ['{ country(code: "KE") { name capital } }', 1],
  ] as const)(
    'files of GraphiQL have the columns, and the rows, of /graphql as CSV: %s',
    async ([text, calls]) => {
      await using program = await openProgram({ env: { CACHE_URL: 'memory:' } });
      const { data } = await program.ask(text);
      expect(program.requests()).toHaveLength(calls);
      const response = await fetch(program.url, {
        method: 'POST',
        headers: {
          authorization: 'Bearer demo-team',
          accept: 'text/csv',
          'content-type': 'application/json',
        },
        body: JSON.stringify({ query: text }),
      });
      const [list] = listsIn(text, undefined, data);
      expect(csvOf(list?.table() ?? { columns: [], rows: [] })).toBe(`\ufeff${await response.text()}`);
      expect(program.requests()).toEqual([]);
    },
  );

  it('files of GraphiQL have the columns of /graphql as CSV where they are those of a picture, too', async () => {
    await using program = await openProgram();
    const text = `{ observations(countryCodes: ["KE"], metricKeys: ["life_expectancy"], latest: true) {
      country { code name } indicator { key name } locationName year period value unit estimateLow estimateHigh valueStatus source { key name } datasetVersion retrievedAt } }`;
    const response = await fetch(program.url, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-team', accept: 'text/csv', 'content-type': 'application/json' },
      body: JSON.stringify({ query: text }),
    });
    const [head] = (await response.text()).split('\r\n');
    expect(tableOf([]).columns.join()).toBe(head);
    // The names of sources are another list.
    expect(program.requests()).toHaveLength(2);
  });
});
