import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsedInPieces } from '../../src/service/bodies.ts';
import { parseExactly } from '../../src/shared/exact-json.ts';

function parsed(text: string): { readonly value: unknown; readonly steps: number } {
  const parsing = parsedInPieces(Buffer.from(text));
  for (let steps = 0; ; steps += 1) {
    const step = parsing.next();
    if (step.done) return { value: step.value, steps };
  }
}

const rows = (count: number, further: object = {}) =>
  Array.from({ length: count }, (_, i) => ({ year: i, place: 'Bahr el-Ghazal – بحر الغزال', ...further }));

const LONG = JSON.stringify(rows(3_000));

describe('a long body', () => {
  it.each<[string, string, number]>([
    ['a bare list', LONG, 3],
    ['a list under a name', `{"total":3000,"data":${LONG},"next":null}`, 3],
    ['a list with blanks', `{"data": ${JSON.stringify(rows(3_000)).replaceAll('},{', '}, {')} }\n`, 3],
    ['a name that stands twice', `{"data":1,"total":2,"data":${LONG}}`, 3],
    ['a name that stands again after it', `{"data":${LONG},"data":[{"a":1},{"a":2}]}`, 0],
    ['names that are numbers', `{"2":1,"data":${LONG},"1":{"0":[]}}`, 3],
    ['a name that every object has', `{"a":0,"__proto__":${LONG},"b":0}`, 3],
    ['a name with a quote', `{"a\\"b":${LONG}}`, 3],
    ['a name with a bracket', `{"a[":${LONG}}`, 0],
    ['a short list before the long one', `{"codes":["KE","NG"],"data":${LONG}}`, 0],
    ['a long list after it', `{"data":[{"a":1},{"a":2}],"more":${LONG}}`, 0],
    ['a list in an object', `{"data":{"rows":${LONG}}}`, 0],
    ['lists of objects in the rows', JSON.stringify({ data: rows(3_000, { of: [{ a: 1 }, { a: 2 }] }) }), 0],
    ['rows that seem to end in a text', JSON.stringify({ data: rows(3_000, { unit: '},{' }) }), 0],
    ['a list over several lines', JSON.stringify({ data: rows(30_000) }, null, 2), 0],
    ['a long text', JSON.stringify('é'.repeat(300_000)), 0],
    ['a byte order mark', `\uFEFF{"data":${LONG}}`, 3],
    [
      'numbers of many digits',
      JSON.stringify({ data: rows(3_000) }).replaceAll('"year":', '"value":0.12345678901234567890'),
      3,
    ],
  ])('a long body with %s is read as in one go', (_name, text, leastSteps) => {
    const { value, steps } = parsed(text);
    expect(value).toEqual(parseExactly(text.replace(/^\uFEFF/, '')));
    expect(Object.keys(value as object)).toEqual(
      Object.keys(parseExactly(text.replace(/^\uFEFF/, '')) as object),
    );
    expect(steps).toBeGreaterThanOrEqual(leastSteps);
  });

  it.each([
    ['that ends within a row', `{"data":${LONG.slice(0, -20)}`],
    ['that ends within its list', `{"data":${LONG.slice(0, -1)}`],
    ['with something after its end', `{"data":${LONG}}}`],
    ['with a comma too many', `{"data":${LONG.replace(/\]$/, ',]')}}`],
    ['with a row that is none', `{"data":${LONG.replace('},{', '},{,')}}`],
    ['with a member that has no value', `{"total":,"data":${LONG}}`],
  ])('a long body %s is no JSON', (_name, text) => {
    expect(() => parsed(text)).toThrow(SyntaxError);
  });

  it('a long body of any shape is read as in one go', () => {
    const list = fc.array(fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 })), {
      minLength: 1,
    });
    const repeated = fc
      .tuple(list, fc.integer({ min: 1, max: 800 }))
      .map(([some, times]) => Array.from({ length: times }, () => some).flat());
    const body = fc.oneof(
      repeated,
      fc
        .tuple(
          fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue()),
          fc.string({ maxLength: 4 }),
          repeated,
          fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue()),
        )
        .map(([before, name, long, after]) => ({ ...before, [name]: long, ...after })),
    );
    fc.assert(
      fc.property(body, (value) => {
        const text = JSON.stringify(value);
        expect(
          JSON.stringify(parsed(text).value) === JSON.stringify(JSON.parse(text)),
          text.slice(0, 500),
        ).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});
