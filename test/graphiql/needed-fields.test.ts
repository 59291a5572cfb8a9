import { globSync, readFileSync } from 'node:fs';
import { Kind, parse, print, type TypeNode } from 'graphql';
import { describe, expect, it } from 'vitest';
import { figuresIn } from '../../clients/graphiql/src/chart/figures.ts';
import {
  COUNTRY_FIELDS,
  FIGURE_FIELDS,
  withNeededFields,
} from '../../clients/graphiql/src/chart/needed-fields.ts';
import { openProgram } from '../support/program.ts';

const MANY = 'observations(countryCodes: ["KE", "NG"], metricKeys: ["population_total"], latest: true)';

describe('what a picture needs besides', () => {
  it.for([
    [
      'below countries',
      '{ countries(codes: ["KE"]) { name observation(metricKey: "population_total") { value } } }',
    ],
    ['at the root', `{ ${MANY} { value } }`],
    [
      'below an indicator',
      '{ indicator(key: "population_total") { observations(countryCodes: ["KE"]) { value } } }',
    ],
    ['below signals', '{ country(code: "KE") { signals { observations { value } } } }'],
    [
      'in fragments',
      'query A { country(code: "KE") { ...C ... on Country { name } } } fragment C on Country { observation(metricKey: "population_total") { ...F } } fragment F on Observation { value year }',
    ],
    ['beside a part of it', `{ ${MANY} { value y: year unit source { key } country { name } } }`],
    ['where names are taken', `{ ${MANY} { year: value country: indicator { key } } }`],
    ['under a condition', `query A($no: Boolean = false) { ${MANY} { value year @include(if: $no) } }`],
    ['with comments', `{ ${MANY} { # figures\n value # last }\n } # end\n}`],
  ] as const)('what a picture needs besides is sent, and taken out of the answer: %s', async ([, query]) => {
    await using program = await openProgram();
    const needed = withNeededFields(query, undefined);
    const written = await program.ask(query);
    const sent = await program.ask(needed?.query ?? '');
    expect(written.errors).toEqual([]);
    expect(sent.errors).toEqual([]);
    // The very same answer, in the same order, for the same calls.
    expect(JSON.stringify(needed?.asWritten(sent.data))).toBe(JSON.stringify(written.data));
    expect(sent.upstream.calls).toBe(written.upstream.calls);
    expect(needed?.query.split('\n').length).toBe(query.split('\n').length);
  });

  it('what a picture needs besides tells each figure its country, indicator, time, unit and source', async () => {
    await using program = await openProgram();
    const { query } = withNeededFields(`{ ${MANY} { value } }`, undefined) ?? { query: '' };
    const { data } = await program.ask(query);
    expect(figuresIn(query, {}, undefined, data)).toMatchObject([
      {
        country: 'KE',
        countryName: 'Kenya',
        indicatorName: 'Population, total',
        unit: 'persons',
        source: 'world_bank_wdi',
        isNational: true,
      },
      { country: 'NG' },
    ]);
  });

  it.for(['{ countries { name } }', '{ country(code: "KE") { observation(metricKey: ', ''])(
    'what a picture needs besides is nothing where there are no figures, or nothing can be read: %s',
    (query) => expect(withNeededFields(query, undefined)).toBeNull(),
  );

  it('what a picture needs besides goes by names of fields that mean one type each in the schema', () => {
    const named = (type: TypeNode): string =>
      type.kind === Kind.NAMED_TYPE ? type.name.value : named(type.type);
    const { definitions } = parse(
      globSync('schema/*.graphql')
        .map((file) => readFileSync(file, 'utf8'))
        .join('\n'),
    );
    const fields = definitions.flatMap((one) =>
      one.kind === Kind.OBJECT_TYPE_DEFINITION || one.kind === Kind.OBJECT_TYPE_EXTENSION
        ? (one.fields ?? []).map((field) => ({
            name: field.name.value,
            type: named(field.type),
            at: print(one.name),
          }))
        : [],
    );
    for (const [names, type] of [
      [FIGURE_FIELDS, 'Observation'],
      [COUNTRY_FIELDS, 'Country'],
    ] as const)
      expect(fields.filter((field) => names.has(field.name) && field.type !== type)).toEqual([]);
  });
});
