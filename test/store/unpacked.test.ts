import { expect, it } from 'vitest';
import type { Peek } from '../../src/cache/backing.ts';
import { packing, unpackedStore } from '../../src/cache/unpacked-store.ts';

/** A store of texts, and an adapter of envelopes over it. */
function open(maxBytes = 1e6) {
  const texts = new Map<string, string>();
  const reads: string[] = [];
  let version = 1;
  const changed = () => {
    version += 1;
  };
  const peek: Peek = () => ({
    version,
    read(keys) {
      reads.push(keys.join(' '));
      return keys.map((key) => texts.get(key));
    },
  });
  const store: Parameters<typeof unpackedStore>[0] = {
    getMany: async (keys) => keys.map((key) => texts.get(key)),
    async setMany(entries) {
      await Promise.resolve();
      for (const { key, value } of entries) texts.set(key, String(value));
      return true;
    },
  };
  return { texts, reads, changed, adapter: unpackedStore(store, maxBytes, peek) };
}

const envelope = (value: unknown) => ({ value, expires: 2_000_000_000_000 });
const long = envelope({ rows: Array.from({ length: 500 }, (_, id) => ({ id })) });

it.each([
  ['short', envelope({ id: 1 })],
  ['long', long],
])(
  'the cache of unpacked values reads a text that is still the same as what it was read as, or written from: %s',
  async (_, written) => {
    const { texts, adapter } = open();
    await adapter.setMany([{ key: 'own', value: written }]);
    texts.set('other', packing.stringify(written));
    const [own, other] = await adapter.getMany(['own', 'other']);
    expect([own, other]).toEqual([written, written]);
    expect(own).toBe(written);
    expect((await adapter.getMany(['other', 'own'])).map((read, i) => read === [other, own][i])).toEqual([
      true,
      true,
    ]);
  },
);

it('the cache of unpacked values reads what others have written since, and nothing where it is gone', async () => {
  const { texts, adapter } = open();
  await adapter.setMany([{ key: 'a', value: long }]);
  texts.set('a', packing.stringify(envelope('newer')));
  expect(await adapter.getMany(['a', 'b'])).toEqual([envelope('newer'), undefined]);
  texts.delete('a');
  expect(await adapter.getMany(['a'])).toEqual([undefined]);
});

it('the cache of unpacked values parses anew what it has given back', async () => {
  const { texts, adapter } = open();
  texts.set('a', packing.stringify(long));
  const [before] = await adapter.getMany(['a']);
  adapter.shrink(1);
  expect((await adapter.getMany(['a']))[0]).toBe(before);
  adapter.shrink(0);
  const [after] = await adapter.getMany(['a']);
  expect([after, after === before]).toEqual([long, false]);
});

it('the cache of unpacked values shares nothing between keys, though their texts are the same', async () => {
  const { texts, adapter } = open();
  for (const key of ['a', 'b']) texts.set(key, packing.stringify(long));
  const [a, b] = await adapter.getMany(['a', 'b']);
  expect(a).toEqual(b);
  expect(a).not.toBe(b);
});

it('the cache of unpacked values keeps no more at hand than it may', async () => {
  const { texts, adapter } = open(2_000);
  for (let i = 0; i < 100; i += 1) texts.set(`${i}`, packing.stringify(envelope(`value ${i}`)));
  const keys = [...texts.keys()];
  const first = await adapter.getMany(keys);
  const again = await adapter.getMany(keys);
  expect(again).toEqual(first);
  expect(again.filter((read, i) => read === first[i]).length).toBeLessThan(40);
});

it('the cache of unpacked values reads at once what has changed since the last look, and nothing else again', async () => {
  const { texts, adapter, reads, changed } = open();
  for (const key of ['a', 'b']) texts.set(key, packing.stringify(envelope(key)));
  const look = () => adapter.peekMany?.(['a', 'b', 'none']);
  const [a, b] = look() ?? [];
  expect([a, b]).toEqual([envelope('a'), envelope('b')]);
  expect(look()?.map((read, i) => read === [a, b, undefined][i])).toEqual([true, true, true]);
  expect(reads).toEqual(['a b none', 'none']);
  texts.set('a', packing.stringify(envelope('newer')));
  changed();
  const after = look();
  expect([after, after?.[1] === b]).toEqual([[envelope('newer'), envelope('b'), undefined], true]);
  expect(reads.slice(2)).toEqual(['a b none']);
});

it('the cache of unpacked values has at once what is on its way, also where others have changed something meanwhile', async () => {
  const { texts, adapter, changed } = open();
  texts.set('a', packing.stringify(envelope('older')));
  expect(adapter.peekMany?.(['a'])).toEqual([envelope('older')]);
  const written = adapter.setMany([{ key: 'a', value: envelope('own') }]);
  texts.set('a', packing.stringify(envelope('of another')));
  changed();
  expect(adapter.peekMany?.(['a'])).toEqual([envelope('own')]);
  await written;
  // Whoever came last has it.
  expect(adapter.peekMany?.(['a'])).toEqual([envelope('own')]);
  texts.set('a', packing.stringify(envelope('of another, later')));
  changed();
  expect(adapter.peekMany?.(['a'])).toEqual([envelope('of another, later')]);
});
