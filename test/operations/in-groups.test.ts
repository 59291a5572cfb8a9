import { expect, it } from 'vitest';
import { InGroups } from '../../src/graphql/request/answers.ts';

/**
 * Numbers of those that went on in each iteration of the event loop, of so many who wait for the same thing.
 */
async function groupsOf(count: number): Promise<readonly number[]> {
  const inGroups = new InGroups();
  const places: number[] = [];
  const groups: number[] = [];
  let size = 0;
  const all = Array.from({ length: count }, async (_, place) => {
    await inGroups.next();
    places.push(place);
    size += 1;
  });
  const closeGroup = () => {
    if (size > 0) groups.push(size);
    size = 0;
    if (places.length < count) setImmediate(closeGroup);
  };
  setImmediate(closeGroup);
  await Promise.all(all);
  if (size > 0) groups.push(size);
  expect(places).toEqual(Array.from({ length: count }, (_, place) => place));
  return groups;
}

it('equal operations go on in groups: a few at once, and ever more of the others, as they came, up to a bound', async () => {
  expect(await groupsOf(300)).toEqual([2, 4, 8, 16, 32, 64, 64, 64, 46]);
});

it('an operation that is alone waits for no group', () => {
  expect(new InGroups().next()).toBeUndefined();
});
