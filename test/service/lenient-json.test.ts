import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsedInPieces } from '../../src/service/bodies.ts';
import { parsedLeniently } from '../../src/service/lenient-json.ts';
import { UnreadItem } from '../../src/service/records/envelope.ts';
import { taken } from '../../src/shared/async/turns.ts';
import { draws } from '../support/draws.ts';

const read = (text: string): unknown => taken(parsedLeniently(text, parsedInPieces));

const leaf = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', '"', '\\', ',', '{', '}', '[', ']', ':', ' ', 'é') }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(null, true, false),
);
const item = fc.record({
  country_code: fc.constantFrom('ke', 'ug'),
  value: fc.integer(),
  more: fc.oneof(
    leaf,
    fc.array(leaf, { maxLength: 3 }),
    fc.dictionary(fc.string({ maxLength: 3 }), leaf, { maxKeys: 3 }),
  ),
});
const list = fc.array(item, { minLength: 1, maxLength: 8 });
const wrapped = (items: readonly string[], gap: string) =>
  `{"data":[${items.join(`,${gap}`)}],"meta":{"total":1}}`;

const FORBIDDEN = ['NaN', '-Infinity', '1.', '.5', '+5', '01', '1e', '0x10', 'undefined', "'x'", '{"a":NaN}'];

describe('a body with something that is no JSON', () => {
  it('a body with something that is no JSON loses the item that it stands in, and tells what can be read of that', () => {
    fc.assert(
      fc.property(
        list,
        fc.nat(),
        fc.constantFrom(...FORBIDDEN),
        fc.constantFrom('', ' ', '\n'),
        (items, n, token, gap) => {
          const index = n % items.length;
          const texts = items.map((one, i) => {
            const text = JSON.stringify(one);
            return i === index ? text.replace(/"value":-?\d+/, `"value":${token}`) : text;
          });
          const { data } = read(wrapped(texts, gap)) as { data: unknown[] };
          const spoilt = data[index] as UnreadItem;
          expect(spoilt).toBeInstanceOf(UnreadItem);
          expect(spoilt.legible.country_code).toBe(items[index]?.country_code);
          expect(data.toSpliced(index, 1)).toEqual(JSON.parse(JSON.stringify(items.toSpliced(index, 1))));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('a body with something that is no JSON never loses a neighbour of it, by any fault', () => {
    let recovered = 0;
    fc.assert(
      fc.property(
        list,
        fc.nat(),
        fc.nat(),
        fc.constantFrom(...'",{}[]:\\ x1-.\u0000', ''),
        fc.nat(1),
        (items, n, place, character, removed) => {
          const index = n % items.length;
          const texts = items.map((one) => JSON.stringify(one));
          const text = texts[index] ?? '';
          const at = place % text.length;
          texts[index] = text.slice(0, at) + character + text.slice(at + removed);
          const body = wrapped(texts, '');
          let data: unknown[];
          try {
            data = (read(body) as { data: unknown[] }).data;
          } catch (error) {
            expect(error).toBeInstanceOf(SyntaxError);
            return;
          }
          recovered += 1;
          const others: unknown[] = JSON.parse(JSON.stringify(items.toSpliced(index, 1)));
          const sound = data.filter((one) => !(one instanceof UnreadItem));
          expect(sound.length === others.length ? sound : sound.toSpliced(index, 1)).toEqual(others);
        },
      ),
      { numRuns: draws(3_000) },
    );
    expect(recovered).toBeGreaterThan(draws(100));
  });

  it('a body with something that is no JSON is none at all where it ends too early', () => {
    fc.assert(
      fc.property(list, fc.nat(), (items, n) => {
        const texts = items.map((one) => JSON.stringify(one).replace(/"value":-?\d+/, '"value":NaN'));
        const body = wrapped(texts, '');
        expect(() => read(body.slice(0, n % body.length))).toThrow(SyntaxError);
      }),
    );
  });

  it.each([
    ['a comma before an end', '{"data":[{"a":[1,],},],}', { data: [{ a: [1] }] }],
    ['a count that is none', '{"data":[1],"meta":{"total":NaN,"of":{"x":1.}}}', { data: [1], meta: null }],
    ['a word in a list within a row', '[{"a":[1,NaN]}]', [{ a: [1, null] }]],
    ['a name without quotes', '[{a:1},{"a":1}]', [null, { a: 1 }]],
    [
      'a row within a row',
      '{"offices":[{"name":"x","terms":[{"to":NaN},{"to":1}]}]}',
      { offices: [{ name: 'x', terms: [null, { to: 1 }] }] },
    ],
  ])('a body with something that is no JSON is read but for that: %s', (_, text, value) => {
    expect(JSON.parse(JSON.stringify(read(text)))).toEqual(value);
  });

  it.each([
    ['the one record', '{"data":{"value":NaN}}'],
    ['a comma within a number', '[{"a":1,5},{"a":1}]'],
    ['no value', '[{"a":},{"a":1}]'],
    ['a word alone', 'NaN'],
    ['two bodies', '[{"a":NaN}][]'],
    ['a quote too many', '[{"a":"b"c","d":NaN}]'],
    ['brackets that don’t match', '[{"a":NaN]}'],
    ['no comma', '[{"a":NaN} {"a":1}]'],
    ['lists in lists without end', '['.repeat(100_000)],
    ['nothing but commas', `[${','.repeat(100_000)}]`],
    ['nothing but words', `[${'NaN,'.repeat(100_000)}1]`],
  ])('a body with something that is no JSON is none where that can’t be set apart: %s', (_, text) => {
    expect(() => read(text)).toThrow(/JSON|nested/);
  });

  it('a body with something that is no JSON is gone through in steps', () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => `{"year":${i === 7 ? 'NaN' : i},"unit":"persons"}`);
    let steps = 0;
    const reading = parsedLeniently(`{"data":[${rows}]}`, parsedInPieces);
    while (!reading.next().done) steps += 1;
    expect(steps).toBeGreaterThan(50);
  });
});
