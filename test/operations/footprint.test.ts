import { getOperationAST, parse } from 'graphql';
import { expect, it } from 'vitest';
import { createPersisted } from '../../src/graphql/request/persisted.ts';
import { PreparedOperations } from '../../src/graphql/request/prepared-operations.ts';
import { batches, resolvers } from '../../src/graphql/resolvers/generated.ts';
import { entities } from '../../src/graphql/resolvers/nodes.ts';
import { createSchema } from '../../src/graphql/schema/schema.ts';

const schema = createSchema({ resolvers, entities, batches });

const MB = 1024 * 1024;

function open() {
  const operations = new PreparedOperations(schema);
  return {
    /** Has an operation come so many times. */
    use(text: string, isProven: boolean, times = 2) {
      const document = parse(text);
      const operation = getOperationAST(document, 'Q') ?? getOperationAST(document);
      if (!operation) throw new TypeError('There is no operation.');
      const valid = { text, operationName: undefined, document, operation, variables: {} };
      for (let i = 0; i < times; i += 1) operations.prepare(valid, isProven);
    },
    shrink: (share: number) => operations.shrink(share),
    isKept: (text: string, isProven = true) =>
      operations.find({ text, operationName: undefined }, isProven) !== undefined,
  };
}

const small = (name: string) => `query ${name} { quota { plan } }`;

it('an operation is kept ready from its second use on', () => {
  const { use, isKept } = open();
  use(small('a'), true, 1);
  expect(isKept(small('a'))).toBe(false);
  use(small('a'), true, 1);
  expect(isKept(small('a'))).toBe(true);
});

it('prepared operations used the longest ago are given back, of known keys and of others', () => {
  const { use, isKept, shrink } = open();
  for (const name of ['a', 'b', 'c']) use(small(name), true);
  use(small('made_up'), false);
  const names = () => ['a', 'b', 'c'].filter((name) => isKept(small(name)));
  shrink(1);
  expect([names(), isKept(small('made_up'), false)]).toEqual([['a', 'b', 'c'], true]);
  expect(isKept(small('a'))).toBe(true);
  shrink(0);
  expect([names(), isKept(small('made_up'), false)]).toEqual([[], false]);
});

it('no more long operations are kept than there is memory for', () => {
  const { use, isKept } = open();
  const others = Array.from({ length: 1400 }, (_, i) => `query a_name_of_its_own_${i}{quota{plan}}`).join(
    ' ',
  );
  const texts = Array.from(
    { length: 80 },
    (_, i) => `query Q{quota{plan}} query q${i}{quota{plan}} ${others}`,
  );
  for (const text of texts) use(text, true);
  const kept = texts.filter((text) => isKept(text)).length;
  expect(kept).toBeGreaterThan(0);
  // Each takes 3.6 MB, of which its text is a hundredth.
  expect(kept * 3.6 * MB).toBeLessThan(64 * MB);
});

it('few operations are kept for keys that nobody knows, and none of them in the place of others', () => {
  const { use, isKept } = open();
  const known = Array.from({ length: 200 }, (_, i) => small(`known${i}`));
  for (const text of known) use(text, true);
  const madeUp = Array.from({ length: 3000 }, (_, i) => small(`madeUp${i}`));
  for (const text of madeUp) use(text, false);
  expect(known.filter((text) => !isKept(text))).toEqual([]);
  const kept = madeUp.filter((text) => isKept(text, false)).length;
  expect(kept).toBeGreaterThan(0);
  expect(kept * 8_000).toBeLessThan(8 * MB);
});

it('an operation that turns out to be of use to a known key is kept', () => {
  const { use, isKept } = open();
  use(small('shared'), false);
  expect(isKept(small('shared'), true)).toBe(true);
  for (let i = 0; i < 3000; i += 1) use(small(`madeUp${i}`), false);
  expect(isKept(small('shared'), true)).toBe(true);
});

it('texts that a known key has asked for are kept, however many others are sent', () => {
  const texts = createPersisted();
  for (const name of ['used', 'unused']) texts.set(name, small(name));
  expect(texts.get('used', true)).toBe(small('used'));
  for (let i = 0; i < 200; i += 1) texts.set(`madeUp${i}`, small(`x${'y'.repeat(20_000)}${i}`));
  expect(texts.get('used')).toBe(small('used'));
  expect(texts.get('unused')).toBeUndefined();
});
