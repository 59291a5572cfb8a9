import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createKeyTable } from '../../src/tenants/status.ts';

const SIZE = { proven: 3, unproven: 2 };

describe('what is remembered of keys', () => {
  it('keeps those that the service has answered for, whoever else comes', () => {
    const table = createKeyTable<{ n: number }>(SIZE);
    table.add('good', { n: 0 });
    table.prove('good');
    for (let i = 1; i < 10; i += 1) table.add(`made up ${i}`, { n: i });
    expect(table.get('good')).toEqual({ n: 0 });
    expect(table.isProven('good')).toBe(true);
    expect(table.get('made up 9')).toEqual({ n: 9 });
    expect(table.isProven('made up 9')).toBe(false);
    expect(table.get('made up 1')).toBeUndefined();
  });

  it('forgets the key that was in use longest ago, whichever was looked for how often', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const step = fc.tuple(fc.constantFrom('get', 'add', 'prove'), key);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const table = createKeyTable<{ key: string }>(SIZE);
        /** Keys of each kind, those in use longest ago first. */
        const kept = { proven: [] as string[], unproven: [] as string[] };
        const use = (kind: keyof typeof kept, name: string) => {
          kept[kind] = [...kept[kind].filter((other) => other !== name), name].slice(-SIZE[kind]);
        };
        const kindOf = (name: string) =>
          (['proven', 'unproven'] as const).find((kind) => kept[kind].includes(name)) ?? null;
        for (const [what, name] of steps) {
          const kind = kindOf(name);
          if (what === 'add' && kind === null) {
            table.add(name, { key: name });
            use('unproven', name);
          } else if (what === 'prove') {
            table.prove(name);
            if (kind === 'unproven') kept.unproven = kept.unproven.filter((other) => other !== name);
            if (kind !== null) use('proven', name);
          } else {
            expect(table.get(name)?.key).toBe(kind === null ? undefined : name);
            expect(table.isProven(name)).toBe(kind === 'proven');
            if (kind !== null) use(kind, name);
          }
        }
      }),
    );
  });
});
