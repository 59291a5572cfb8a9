import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Room } from '../../src/shared/async/room.ts';
import { Flow } from '../../src/shared/async/turns.ts';

/** Enters, and notes the name once it has room. */
function openRoom(mostBytes: number) {
  const room = new Room(mostBytes);
  const entered: string[] = [];
  const owners = new Map<string, object>();
  return {
    entered,
    async enter(name: string, bytes: number, flow = new Flow(), keeper?: { readonly keptBytes: number }) {
      const owner = owners.get(name) ?? {};
      owners.set(name, owner);
      await room.enter(owner, { flow, bytes, keeper });
      entered.push(name);
    },
    async leave(name: string) {
      room.leave(owners.get(name) ?? {});
      for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
    },
  };
}

describe('the room for what is being made', () => {
  it('has what does not fit beside others wait until they leave, and what is too large enter alone', async () => {
    const { enter, entered, leave } = openRoom(100);
    await enter('a', 60);
    await enter('b', 40);
    void enter('large', 500);
    void enter('small', 1);
    await leave('a');
    expect(entered).toEqual(['a', 'b']);
    await leave('b');
    expect(entered).toEqual(['a', 'b', 'large']);
    await leave('large');
    expect(entered).toEqual(['a', 'b', 'large', 'small']);
  });

  it('never has wait again what has entered', async () => {
    const { enter, entered } = openRoom(100);
    await enter('a', 90);
    await enter('a', 90);
    expect(entered).toEqual(['a', 'a']);
  });

  it('is entered by flows in turn, and by one that has given up not at all', async () => {
    const { enter, entered, leave } = openRoom(100);
    const [one, other] = [new Flow(), new Flow()];
    await enter('one 1', 100, one);
    for (const name of ['one 2', 'one 3']) void enter(name, 100, one);
    void enter('other 1', 100, other);
    await leave('one 1');
    expect(entered).toEqual(['one 1', 'other 1']);
    await leave('one 2');
    entered.length = 0;
    await leave('other 1');
    expect(entered).toEqual(['one 3']);
  });

  it('counts what batches keep, and has those that keep anything go on first', async () => {
    const { enter, entered, leave } = openRoom(100);
    const flow = new Flow();
    const keeper = { keptBytes: 50 };
    await enter('a 1', 40, flow, keeper);
    void enter('b', 40);
    void enter('a 2', 40, flow, keeper);
    expect(entered).toEqual(['a 1']);
    await leave('a 1');
    expect(entered).toEqual(['a 1', 'a 2']);
    keeper.keptBytes = 0;
    await leave('a 2');
    expect(entered).toEqual(['a 1', 'a 2', 'b']);
  });

  it('is entered by all in the end, within its bound unless by one alone (property)', async () => {
    const sizes = fc.array(fc.nat(120), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(sizes, fc.infiniteStream(fc.nat(11)), async (bytes, picks) => {
        const room = new Room(100);
        const flows = [new Flow(), new Flow()];
        const inside = new Set<object>();
        const owners = bytes.map((size, index) => ({ size, index }));
        for (const owner of owners) {
          const flow = flows[owner.index % 2] as Flow;
          void Promise.resolve(room.enter(owner, { flow, bytes: owner.size })).then(() => inside.add(owner));
        }
        for (let left = owners.length; left > 0; left -= 1) {
          for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
          const all = [...inside] as typeof owners;
          expect(all.length).toBeGreaterThan(0);
          if (all.length > 1) expect(all.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(100);
          const gone = all[(picks.next().value as number) % all.length] as object;
          inside.delete(gone);
          room.leave(gone);
        }
      }),
    );
  });
});
