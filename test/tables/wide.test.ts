import { describe, expect, it } from 'vitest';
import { exchange } from '../operations/exchange.ts';
import { openProgram, type Program } from '../support/program.ts';

const SERIES = `{
  observations(countryCodes: ["KE", "NG"], metricKeys: ["population_total", "life_expectancy"], fromYear: 2021, toYear: 2023) {
    country { code } indicator { key } year value unit
  }
}`;

const asked = (program: Program, query: string, accept = 'text/csv; shape=wide') =>
  exchange(program, { body: { query }, headers: { accept } });

describe('a wide table', () => {
  it('a wide table has a row for each country and indicator, and a column for each year', async () => {
    await using program = await openProgram();
    const { data } = await program.ask(SERIES);
    program.requests();
    const { text, headers } = await asked(program, SERIES);
    const [head, ...rows] = text.trim().split('\r\n');
    expect(head).toBe('country.code,indicator.key,unit,2021,2022,2023');
    expect(headers['content-type']).toBe('text/csv; charset=utf-8; header=present; shape=wide');
    expect(rows.map((row) => row.split(',').slice(0, 2).join(' '))).toEqual([
      'KE population_total',
      'KE life_expectancy',
      'NG population_total',
      'NG life_expectancy',
    ]);
    const values = rows.flatMap((row) => row.split(',').slice(3).map(Number));
    expect(values).toEqual(data.observations.map(({ value }: { value: number }) => value));
    expect(program.requests()).toHaveLength(1);
  });

  it('a wide table leaves years without a figure empty, and keeps the row of who has none', async () => {
    await using program = await openProgram();
    const query = `{ countries(codes: ["KE", "SS"]) { code
      figures: observations(metricKeys: ["population_total"], fromYear: 2009, toYear: 2012) { year value } } }`;
    const { text } = await asked(program, query);
    expect(text.split('\r\n')).toEqual([
      'code,2009,2010,2011,2012',
      expect.stringMatching(/^KE,\d+,\d+,\d+,\d+$/),
      expect.stringMatching(/^SS,,,\d+,\d+$/),
      '',
    ]);
  });

  it('a wide table loses no figure where several are of one row and year', async () => {
    await using program = await openProgram();
    const query = (fields: string) =>
      `{ observations(countryCodes: ["KE"], metricKeys: ["policy_rate_pct"], fromYear: 2024) { ${fields} value } }`;
    const { data } = await program.ask(query('period'));
    const months = await asked(program, query('period year'));
    expect(months.text.split('\r\n')[0]?.split(',')).toEqual(
      data.observations.map((row: { period: string }) => row.period),
    );
    const years = await asked(program, query('year'));
    const cells = years.text
      .trim()
      .split('\r\n')
      .slice(1)
      .flatMap((row) => row.split(',').filter(Boolean));
    expect(cells).toHaveLength(data.observations.length);
  });

  it('a wide table has one row for a series, whatever else is selected of its figures', async () => {
    await using program = await openProgram();
    const more =
      'id asOfPeriod valueStatus isModelled estimateLow estimateHigh datasetVersion retrievedAt freshness { stale } change';
    const [plain, full] = [SERIES, SERIES.replace('value unit', `value unit ${more}`)];
    expect((await asked(program, full)).text).toBe((await asked(program, plain)).text);
    const beside = `{ countries(codes: ["KE"]) { code id figures: observations(metricKeys: ["population_total"], fromYear: 2022, toYear: 2023) { id year value source { key id } } } }`;
    const { text } = await asked(program, beside);
    expect(text.split('\r\n')[0]).toBe('code,id,figures.source.key,figures.source.id,2022,2023');
    expect(text.trim().split('\r\n')).toHaveLength(2);
  });

  it.for([
    ['no year', '{ observations(countryCodes: ["KE"], metricKeys: ["population_total"]) { value } }'],
    [
      'two values',
      '{ countries { a: observation(metricKey: "x") { year value } b: observation(metricKey: "y") { value } } }',
    ],
  ])('a wide table is refused before any call if the operation selects %s', async ([, query = '']) => {
    await using program = await openProgram();
    const { status, text } = await asked(program, query);
    expect(status).toBe(406);
    expect(JSON.parse(text).errors[0].message).toMatch(/^A wide table has a column for each year/);
    expect(program.requests()).toEqual([]);
  });

  it('a wide table is NDJSON or Arrow too, and JSON where that is liked more', async () => {
    await using program = await openProgram();
    const { text } = await asked(program, SERIES, 'application/x-ndjson; shape=wide');
    expect(Object.keys(JSON.parse(text.split('\n')[0] ?? ''))).toEqual([
      '2021',
      '2022',
      '2023',
      'country.code',
      'indicator.key',
      'unit',
    ]);
    const json = await asked(program, SERIES, 'text/csv; shape=wide; q=0.5, application/json');
    expect(JSON.parse(json.text).data.observations).toHaveLength(12);
  });
});
