import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byCode, byName, byNumber, createListing } from '../../src/graphql/resolvers/lists.ts';
import type { GraphContext } from '../../src/graphql/schema/context.ts';
import { callerOf } from '../support/tenants.ts';

interface Row {
  readonly id: number;
  readonly size: number | null;
  readonly name: string | null;
}

const orders = {
  SIZE: byNumber<Row>(({ size }) => size),
  CODE: byCode<Row>(({ name }) => name),
  NAME: byName<Row>(({ name }) => name),
};
const { ordered } = createListing('Country', orders, ({ id }) => [String(id)]);

const context = {
  batchGate: {
    closeDuring: <T>(promise: Promise<T>) => promise,
    openDuring: <T>(promise: Promise<T>) => promise,
    whenOpen: (leave: () => void) => leave(),
  },
  caller: callerOf(''),
} as unknown as GraphContext;

const rows = (maxLength: number) =>
  fc
    .array(
      fc.record({
        size: fc.option(fc.integer({ min: -3, max: 3 })),
        name: fc.option(fc.constantFrom('a', 'B', 'b', 'c')),
      }),
      { maxLength, size: 'max' },
    )
    .map((list) => list.map((row, id): Row => ({ ...row, id })));

const field = fc.constantFrom('SIZE' as const, 'CODE' as const);
const direction = fc.constantFrom('ASC' as const, 'DESC' as const);

/** Verdict on the order of two rows, by one field. */
function mayPrecede(a: Row, b: Row, by: 'SIZE' | 'CODE', way: 'ASC' | 'DESC'): 'yes' | 'alike' | 'no' {
  const [x, y] = by === 'SIZE' ? [a.size, b.size] : [a.name, b.name];
  if (x === y) return 'alike';
  if (x === null || y === null) return y === null ? 'yes' : 'no';
  return x < y === (way === 'ASC') ? 'yes' : 'no';
}

describe('rows in order', () => {
  it('rows in order stand by the fields in turn, those without a value last, those that are alike as they were', async () => {
    await fc.assert(
      fc.asyncProperty(
        rows(3_000),
        fc.array(fc.record({ field, direction }), { minLength: 1, maxLength: 2 }),
        async (list, wanted) => {
          const result = await ordered(list, wanted, context);
          expect([...result].sort((a, b) => a.id - b.id)).toEqual(list);
          for (let i = 1; i < result.length; i += 1) {
            const [a, b] = [result[i - 1], result[i]];
            if (a === undefined || b === undefined) throw new Error('A row is missing.');
            const verdict = wanted
              .map((one) => mayPrecede(a, b, one.field, one.direction))
              .find((one) => one !== 'alike');
            if (verdict === undefined) expect(a.id).toBeLessThan(b.id);
            else expect(verdict).toBe('yes');
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  it('rows in order are the list itself where no order is wanted', () => {
    const list: Row[] = [{ id: 0, size: 1, name: null }];
    expect(ordered(list, null, context)).toBe(list);
    expect(ordered(list, [], context)).toBe(list);
  });

  it('rows in order have accented names beside plain ones', async () => {
    const list = ['Zambia', "Côte d'Ivoire", 'Congo', null, 'Chad'].map(
      (name, id): Row => ({
        id,
        size: null,
        name,
      }),
    );
    const names = async (way: 'ASC' | 'DESC') =>
      (await ordered(list, [{ field: 'NAME', direction: way }], context)).map(({ name }) => name);
    expect(await names('ASC')).toEqual(['Chad', 'Congo', "Côte d'Ivoire", 'Zambia', null]);
    expect(await names('DESC')).toEqual(['Zambia', "Côte d'Ivoire", 'Congo', 'Chad', null]);
  });
});
