import { expect, it } from 'vitest';
import { createHubListening } from '../../src/cache/hub.ts';
import { createNearCache } from '../../src/cache/near-cache.ts';

/** A hub's store, as one of its members sees it. */
function open() {
  const held = new Map<string, unknown>();
  const reads: string[] = [];
  const store = {
    async getMany(keys: readonly string[]) {
      reads.push(keys.join(' '));
      return keys.map((key) => held.get(key));
    },
    async setMany(entries: readonly { key: string; value: unknown }[], _ttlMs: number) {
      for (const { key, value } of entries) held.set(key, value);
      return true;
    },
    async clear() {},
  };
  const { answers, listening } = createHubListening();
  const member = createNearCache(store, { ...listening, ask: async () => {}, nearCacheBytes: 1e6 });
  /** Another member puts something there. */
  const others = (key: string, value: unknown) => {
    held.set(key, value);
    answers['store.changed']?.([key] as never);
  };
  return { member, others, held, reads };
}

it('the near cache looks but once for what is not there', async () => {
  const { member, reads } = open();
  expect(await member.getMany(['a', 'b'])).toEqual([undefined, undefined]);
  expect(await member.getMany(['b', 'a'])).toEqual([undefined, undefined]);
  expect(reads).toEqual(['a b']);
});

it('the near cache finds what somebody has put there since', async () => {
  const { member, others, reads } = open();
  await member.getMany(['a', 'b']);
  others('a', 1);
  await member.setMany([{ key: 'b', value: 2 }], 1_000);
  expect(await member.getMany(['a', 'b'])).toEqual([1, 2]);
  expect(reads).toEqual(['a b', 'a']);
  expect(member.peekMany?.(['a', 'b'])).toEqual([1, 2]);
});

it('the near cache reads anew what it has given back, those used the longest ago first', async () => {
  const { member, others, reads } = open();
  for (const key of ['a', 'b']) others(key, 'x'.repeat(1_000));
  await member.getMany(['a']);
  await member.getMany(['b']);
  // Room for one of them, of a million bytes.
  member.shrink(0.0015);
  expect(await member.getMany(['b'])).toHaveLength(1);
  expect(reads).toEqual(['a', 'b']);
  await member.getMany(['a']);
  expect(reads).toEqual(['a', 'b', 'a']);
});

it('the near cache takes nothing for missing that came while it was looked for', async () => {
  const { member, others, held } = open();
  const looking = member.getMany(['a']);
  others('a', 1);
  held.set('a', 1);
  await looking;
  expect(await member.getMany(['a'])).toEqual([1]);
});

it('the near cache looks again after a moment: a store out of reach has nothing either, and says nothing when it is back', async () => {
  const { member, held, reads } = open();
  await member.getMany(['a']);
  held.set('a', 1);
  await expect.poll(() => member.getMany(['a'])).toEqual([1]);
  expect(reads).toEqual(['a', 'a']);
});
