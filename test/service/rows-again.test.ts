import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsedByRows, type Read } from '../../src/service/repeated-rows.ts';
import { taken } from '../../src/shared/async/turns.ts';
import { parseExactly } from '../../src/shared/exact-json.ts';

const row = (at: number, more: object = {}) => ({
  country_code: `c${at}`,
  country_name: 'Côte d’Ivoire "{[\\" ]},{',
  value: at * 1.5,
  currencies: [{ code: 'XOF' }, { code: 'ZWG' }],
  retrieved_at: '2026-07-24T03:03:40.220314Z',
  ...more,
});
const ROWS = Array.from({ length: 40 }, (_, at) => row(at));
const META = { serial: 1, total: 40 };

const bytesOf = (body: unknown, space?: number) =>
  Buffer.from(typeof body === 'string' ? body : JSON.stringify(body, null, space));
const readOf = (bytes: Buffer): Read => ({ bytes, body: parseExactly(bytes.toString()) });
const again = (last: Read, bytes: Buffer) => taken(parsedByRows(last, bytes));

const changed = (...at: readonly number[]) =>
  ROWS.map((each, i) => (at.includes(i) ? { ...each, value: 12_345.5, note: 'longer than it was' } : each));

describe('a body that is read by its rows', () => {
  const last = () => readOf(bytesOf({ data: ROWS, meta: META }));

  it.for([
    ['nothing but the count', { data: ROWS, meta: { serial: 2, total: 40 } }],
    ['some rows', { data: changed(0, 7, 39), meta: META }],
    ['a row less at the end', { data: ROWS.slice(0, -1), meta: META }],
    ['a row more at the end', { data: [...ROWS, row(40)], meta: META }],
    ['other members behind the list', { data: ROWS, meta: null, more: [{ a: 1 }] }],
  ] as const)('a body that is read by its rows says the same as when it is read whole: %s', ([, body]) => {
    const before = last();
    const found = again(before, bytesOf(body));
    expect(found?.body).toEqual(body);
    const rowsIn = (read: Read | undefined) => (read as Read).body as { readonly data: readonly unknown[] };
    const known = new Set(rowsIn(before).data);
    const same = rowsIn(found).data.filter((each) => known.has(each));
    expect(same.length).toBeGreaterThan(30);
    // Reads the next one by this one.
    expect(again(found as Read, bytesOf({ data: changed(3), meta: META }))?.body).toEqual({
      data: changed(3),
      meta: META,
    });
  });

  it('a body that is read by its rows may be a bare list, and have space between its parts', () => {
    for (const wrap of [(rows: unknown) => rows, (rows: unknown) => ({ data: rows, meta: META })]) {
      const before = readOf(bytesOf(wrap(ROWS), 2));
      expect(again(before, bytesOf(wrap(changed(5)), 2))?.body).toEqual(wrap(changed(5)));
    }
  });

  it('a body that is read by its rows keeps digits that no number holds, and the last of equal members', () => {
    const text = JSON.stringify({ data: changed(4), meta: META });
    const long = text.replace('12345.5', '12345678901234567890');
    expect(JSON.stringify(again(last(), bytesOf(long))?.body)).toBe(long);
    const twice = text.replace('"meta":', '"data":[],"meta":');
    expect(again(last(), bytesOf(twice))).toBeUndefined();
    expect(again(last(), bytesOf(text.replace('"meta":', '"d\\u0061ta":[],"meta":')))).toBeUndefined();
  });

  it('a body that is read by its rows is read whole where the last one had a later list of the same name', () => {
    const twice = readOf(
      bytesOf(JSON.stringify({ data: ROWS, meta: META }).replace('"meta":', '"data":[],"meta":')),
    );
    const others = ROWS.map(({ value }) => row(value));
    const text = `{"data":${JSON.stringify(ROWS)},"data":${JSON.stringify(others)}}`;
    for (const before of [twice, readOf(bytesOf(text))])
      expect(again(before, bytesOf({ data: changed(3), meta: META }))).toBeUndefined();
  });

  it('a body that is read by its rows is not cut by the lengths of others, though their number comes out right', () => {
    const same = ROWS.map((each) => JSON.stringify(each));
    const listOf = (...rows: readonly string[]) => bytesOf(`{"data":[${rows.join()}],"meta":{}}`);
    const before = readOf(listOf('{"one":"row......"}', ...same, '{"a":  1 }', '{ }'));
    // Two rows are as long as one was, and one as long as two with the comma between them.
    const bytes = listOf('{"a":12},{"b":1234}', ...same, '{"note":"},{"}');
    expect(again(before, bytes)).toBeUndefined();
    expect(again(before, listOf('{"one":"row of it"}', ...same, '{"a":  2 }', '{ }'))?.body).toMatchObject({
      data: { 0: { one: 'row of it' }, 41: { a: 2 }, length: 43 },
    });
  });

  it.for([
    ['most rows are others', { data: ROWS.map(({ value }) => row(value + 100)), meta: META }],
    ['the list has another name', { rows: ROWS, meta: META }],
    ['the list is not the first member', { meta: META, data: ROWS }],
    ['there is no list', { data: 'x'.repeat(3_000) }],
    ['rows are no objects', { data: ROWS.map(({ country_name: name }) => name), meta: META }],
  ] as const)('a body that is read by its rows is read whole where %s', ([, body]) => {
    expect(again(last(), bytesOf(body))).toBeUndefined();
  });

  it('a body that is read by its rows is as strict as when it is read whole, whatever is written in it', () => {
    const before = last();
    const sound = bytesOf({ data: changed(2), meta: META });
    const edit = fc.record({
      at: fc.nat(sound.length - 1),
      drop: fc.integer({ min: 0, max: 3 }),
      text: fc.oneof(
        fc.constantFrom(...'{}[],:"\\ 0e.-', '},{', ']}', 'NaN', '\u0000', 'é', '\\u00e9'),
        fc.string({ maxLength: 4 }),
      ),
    });
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
        let bytes = sound;
        for (const { at, drop, text } of edits) {
          bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(text), bytes.subarray(at + drop)]);
        }
        const found = again({ ...before }, bytes);
        if (found !== undefined) expect(found.body).toEqual(parseExactly(bytes.toString()));
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 600) },
    );
  });
});
