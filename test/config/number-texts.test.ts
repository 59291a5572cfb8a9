import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { numberOf } from '../../src/shared/exact-json.ts';

/** Calls that make a number of a text. */
const READING = /\bNumber\((?!\))|\bparse(?:Float|Int)\(|\((?:Number|parseFloat|parseInt)\)/;

/**
 * Files that do so to other texts than those of others, or to digits that a rule of their own has picked out.
 */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'src/shared/exact-json.ts': 'the reader itself',
  'src/config/config.ts': 'settings, which have checks of their own',
  'src/config/memory-budget.ts': 'settings before they are checked, and flags of the engine',
  'src/cli/main.ts': 'a port on the command line',
  'src/cli/keys.ts': 'days and counts on the command line',
  'src/plugins/issued-keys/key.ts': 'digits of our own',
  'src/plugins/public-pages/openapi.ts': 'counts of our own answers',
  'src/plugins/issued-keys/key-store.ts': 'columns of our own tables',
  'src/cache/sqlite.ts': 'columns of our own tables',
  'src/cache/elsewhere.ts': 'times that we have written',
  'src/graphql/request/delivery.ts': 'an argument that is an Int already',
  'src/graphql/request/documents.ts': 'the message of a library',
  'src/plugins/batches/answer-all.ts': 'headers of our own answers',
  'src/service/lenient-json.ts': 'numbers of our own marks',
  'src/plugins/extra-routes/policy.ts': 'four digits of a day',
  'src/shared/periods.ts': 'digits that its rules have picked out',
  'src/server/server.ts': 'counts of what is true',
  'src/service/failed-answers.ts': 'digits of an escape, as its rule has picked them out',
  'src/observations/repair.ts': 'counts of what is true',
  'src/cli/workers/supervisor.ts': 'a process of the kernel',
  'src/keys/tenant.ts': 'digits of an escape, as its rule has picked them out',
  'src/observations/planner/learned.ts': 'counts of what is true',
  'src/graphql/resolvers/lists.ts': 'orders of what is true',
  'src/graphql/cost/bound.ts': 'counts of what is true',
};

it('the texts of others are read as numbers in one place', () => {
  const files = globSync('src/**/*.ts').filter((path) => !/^src\/(graphiql|sandbox)\//.test(path));
  const reading = files.filter((path) => READING.test(readFileSync(path, 'utf8')));
  expect(reading.filter((path) => !Object.hasOwn(ELSEWHERE, path))).toEqual([]);
});

it('numbers are read however their digits are written, and nothing else is', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
      for (const text of [String(number), number.toExponential(), ` ${number} `])
        expect(numberOf(text)).toBe(Object.is(number, -0) ? Number(text) : number);
    }),
  );
  const spelt = { '+5': 5, '.5': 0.5, '5.': 5, '007': 7, '1E3': 1_000, '-0': -0, '1e-400': 0 };
  for (const [text, number] of Object.entries(spelt)) expect([text, numberOf(text)]).toEqual([text, number]);
  const none = [
    '',
    ' ',
    'NaN',
    'Infinity',
    '-Infinity',
    '1e999',
    '0x10',
    '0b1',
    '1,5',
    '1_000',
    '1 000',
    '1e',
    '--1',
    '٣',
  ];
  for (const text of [...none, '9'.repeat(400), '1'.repeat(1_000_000)])
    expect([text.slice(0, 20), numberOf(text)]).toEqual([text.slice(0, 20), null]);
});
