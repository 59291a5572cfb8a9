import { type DocumentNode, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { formatted } from '../../src/cli/formats.ts';
import { listed, tablesSeen } from '../../src/graphql/request/answer-tables.ts';
import { parseExactly } from '../../src/shared/exact-json.ts';

const tablesInAnswer = (document: DocumentNode, operationName: string | undefined, data: unknown) =>
  listed(tablesSeen(document, operationName, data, null), data);
const tables = (text: string, data: unknown, operationName?: string) =>
  tablesInAnswer(parse(text), operationName, data);

describe('the lists of an answer', () => {
  it('the lists of an answer are rows of what the operation selects, by its names for it, through objects and fragments', () => {
    const text = `
      query { all: countries { ...Names capital: officialName place { region ... on Place { sub } } } }
      fragment Names on Country { code ...Loop }
      fragment Loop on Country { iso3 ...Names }`;
    const data = {
      all: [
        { code: 'KE', iso3: 'KEN', capital: 'x', place: { region: 'Africa', sub: 'East' } },
        { code: 'NG', iso3: 'NGA', capital: null, place: null },
      ],
    };
    expect(tables(text, data)).toEqual([
      {
        path: 'all',
        columns: ['code', 'iso3', 'capital', 'place.region', 'place.sub'],
        rows: [
          ['KE', 'KEN', 'x', 'Africa', 'East'],
          ['NG', 'NGA', null, null, null],
        ],
      },
    ]);
  });

  it('the lists of an answer within lists are one table, in which an empty one leaves its row', () => {
    const text = '{ countries { code figures { year by { key } } } }';
    const data = {
      countries: [
        {
          code: 'KE',
          figures: [
            { year: 1, by: { key: 'a' } },
            { year: 2, by: { key: 'b' } },
          ],
        },
        { code: 'NG', figures: [] },
        { code: 'GH', figures: null },
      ],
    };
    expect(tables(text, data)).toEqual([
      {
        path: 'countries.figures',
        columns: ['code', 'figures.year', 'figures.by.key'],
        rows: [
          ['KE', 1, 'a'],
          ['KE', 2, 'b'],
          ['NG', null, null],
          ['GH', null, null],
        ],
      },
    ]);
  });

  it('the lists of an answer are a table each where they stand beside each other', () => {
    const data = { a: { rows: [{ x: 1 }] }, b: [{ x: 2 }, { x: 3 }], c: { d: 4 } };
    expect(tables('{ a { rows { x } } b { x } c { d } }', data)).toEqual([
      { path: 'a.rows', columns: ['x'], rows: [[1]] },
      { path: 'b', columns: ['x'], rows: [[2], [3]] },
    ]);
  });

  it('the lists of an answer are one row of all where there is none', () => {
    expect(tables('{ health { status } n }', { health: { status: 'ok' }, n: null })).toEqual([
      { path: '', columns: ['health.status', 'n'], rows: [['ok', null]] },
    ]);
  });

  it('the lists of an answer have their columns where they are empty', () => {
    expect(tables('{ rows { a b { c } } }', { rows: [] })).toEqual([
      { path: 'rows', columns: ['a', 'b.c'], rows: [] },
    ]);
  });

  it('the lists of an answer are those of the operation that is named', () => {
    const text = 'query A { rows { a } } query B { rows { b } }';
    expect(tables(text, { rows: [{ b: 1 }] }, 'B')).toEqual([{ path: 'rows', columns: ['b'], rows: [[1]] }]);
    expect(tables(text, { rows: [{ b: 1 }] }, 'C')).toEqual([]);
  });

  it('the lists of an answer are none where there is no answer', () => {
    expect(tables('{ rows { a } }', null)).toEqual([]);
    for (const format of ['table', 'csv', 'ndjson'] as const) expect(formatted([], format)).toBe('');
  });
});

describe('formats', () => {
  const operation = parse('{ rows { name value } others { value record } }');
  const data = parseExactly(`{
    "rows": [{ "name": "a, \\"b\\"\\nc", "value": 12345678901234567890.5 }, { "name": "\\u001b[31mred", "value": 0 }],
    "others": [{ "value": null, "record": { "x": [1] } }]
  }`);
  const all = tablesInAnswer(operation, undefined, data);
  const one = all.slice(0, 1);

  it('csv quotes what has to be, and keeps all digits', () => {
    expect(formatted(one, 'csv')).toBe(
      'name,value\r\n"a, ""b""\nc",12345678901234567890.5\r\n\u001b[31mred,0\r\n',
    );
  });

  it('csv of several lists says which one each row is of', () => {
    expect(formatted(all, 'csv').split('\r\n')).toEqual([
      'list,name,value,record',
      'rows,"a, ""b""\nc",12345678901234567890.5,',
      'rows,\u001b[31mred,0,',
      'others,,,"{""x"":[1]}"',
      '',
    ]);
  });

  it('ndjson is an object a line', () => {
    expect(formatted(all, 'ndjson').split('\n')).toEqual([
      '{"list":"rows","name":"a, \\"b\\"\\nc","value":12345678901234567890.5}',
      '{"list":"rows","name":"\\u001b[31mred","value":0}',
      '{"list":"others","value":null,"record":{"x":[1]}}',
      '',
    ]);
    expect(formatted(one, 'ndjson')).not.toContain('"list"');
  });

  it('table shows a terminal nothing that it would take for a command, and no endless cell', () => {
    const long = tablesInAnswer(parse('{ rows { a } }'), undefined, { rows: [{ a: 'x'.repeat(500) }] });
    expect(formatted(long, 'table')).toBe(`a\n${'x'.repeat(59)}…\n`);
    expect(formatted(one, 'table').split('\n')).toEqual([
      'name                       value',
      'a, "b" c  12345678901234567890.5',
      ' [31mred                       0',
      '',
    ]);
  });
});
