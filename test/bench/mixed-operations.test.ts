import { parse, validate } from 'graphql';
import { expect, it } from 'vitest';
import { drawOperations, KEYS } from '../../bench/race/mixed-operations.ts';
import { batches, resolvers } from '../../src/graphql/resolvers/generated.ts';
import { entities } from '../../src/graphql/resolvers/nodes.ts';
import { createSchema } from '../../src/graphql/schema/schema.ts';

const operations = drawOperations(2_000, 7);

it('mixed operations are the same for the same seed, and others for another', () => {
  expect(drawOperations(2_000, 7)).toEqual(operations);
  expect(drawOperations(2_000, 8)).not.toEqual(operations);
});

it('mixed operations have few keys often and most keys seldom', () => {
  const counts = new Array<number>(KEYS).fill(0);
  for (const { key } of operations) counts[key] = (counts[key] ?? 0) + 1;
  expect(counts[0]).toBeGreaterThan(300);
  expect(counts.slice(50).reduce((sum, count) => sum + count, 0)).toBeLessThan(400);
  expect(counts.filter((count) => count > 0).length).toBeGreaterThan(80);
});

it('mixed operations have many shapes, and each of them is valid', () => {
  const schema = createSchema({ resolvers, entities, batches });
  const texts = new Set(operations.map(({ query }) => query));
  const shapes = new Set([...texts].map((text) => text.replace(/"[^"]*"/g, '').replace(/[\d,]/g, '')));
  expect(texts.size).toBeGreaterThan(500);
  expect(shapes.size).toBeGreaterThanOrEqual(12);
  for (const text of texts) expect(validate(schema, parse(text))).toEqual([]);
});
