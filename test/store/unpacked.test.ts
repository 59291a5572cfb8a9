import { expect, it } from 'vitest';
import type { Texts } from '../../src/cache/backing.ts';
import { createUnpackedStore, packing, StandInCache } from '../../src/cache/unpacked-store.ts';

/** A store of texts, and one of values over it. */
function open(maxBytes = 1e6) {
  const texts = new Map<string, string>();
  const under: Texts = {
    getMany: async (keys) => keys.map((key) => texts.get(key)),
    async setMany(entries) {
      for (const { key, text } of entries) texts.set(key, text);
    },
  };
  const cache = new StandInCache(maxBytes);
  return { texts, cache, store: createUnpackedStore(under, cache) };
}

const EXPIRES = 2_000_000_000_000;
const textOf = (value: unknown, expires = EXPIRES) => packing.stringify({ value, expires });
const long = { rows: Array.from({ length: 500 }, (_, id) => ({ id })) };

it.each([
  ['short', { id: 1 }],
  ['long', long],
])(
  'the cache of unpacked values reads a text that is still the same as what it was read as, or written from: %s',
  async (_, written) => {
    const { texts, store } = open();
    await store.setMany([{ key: 'own', value: written }], EXPIRES);
    texts.set('other', textOf(written));
    const [own, other] = await store.getMany(['own', 'other']);
    expect([own, other]).toEqual([written, written]);
    expect(own).toBe(written);
    expect((await store.getMany(['other', 'own'])).map((read, i) => read === [other, own][i])).toEqual([
      true,
      true,
    ]);
  },
);

it('the cache of unpacked values reads what others have written since, and nothing where it is gone', async () => {
  const { texts, store } = open();
  await store.setMany([{ key: 'a', value: long }], EXPIRES);
  texts.set('a', textOf('newer'));
  expect(await store.getMany(['a', 'b'])).toEqual(['newer', undefined]);
  texts.delete('a');
  expect(await store.getMany(['a'])).toEqual([undefined]);
});

it('the cache of unpacked values reads nothing past its time, and nothing of texts that are no envelopes', async () => {
  const { texts, store } = open();
  texts.set('late', textOf('late', Date.now() - 1));
  texts.set('number', '5');
  texts.set('cut', '{"value":');
  texts.set('none', 'null');
  expect(await store.getMany([...texts.keys()])).toEqual(Array(4).fill(undefined));
});

it('the cache of unpacked values parses anew what it has given back', async () => {
  const { texts, cache, store } = open();
  texts.set('a', textOf(long));
  const [before] = await store.getMany(['a']);
  cache.shrink(1);
  expect((await store.getMany(['a']))[0]).toBe(before);
  cache.shrink(0);
  const [after] = await store.getMany(['a']);
  expect([after, after === before]).toEqual([long, false]);
});

it('the cache of unpacked values shares nothing between keys, though their texts are the same', async () => {
  const { texts, store } = open();
  for (const key of ['a', 'b']) texts.set(key, textOf(long));
  const [a, b] = await store.getMany(['a', 'b']);
  expect(a).toEqual(b);
  expect(a).not.toBe(b);
});

it('the cache of unpacked values keeps no more at hand than it may', async () => {
  const { texts, store } = open(2_000);
  for (let i = 0; i < 100; i += 1) texts.set(`${i}`, textOf({ i }));
  const keys = [...texts.keys()];
  const first = await store.getMany(keys);
  const again = await store.getMany(keys);
  expect(again).toEqual(first);
  expect(again.filter((read, i) => read === first[i]).length).toBeLessThan(40);
});
