import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { EventWork } from '../../src/graphql/live/event-results.ts';
import { SubscriptionPlaces } from '../../src/graphql/live/places.ts';
import type { Admission } from '../../src/graphql/request/admission.ts';
import { UNPROVEN } from '../../src/graphql/request/callers.ts';
import type { Caller } from '../../src/service/caller.ts';
import { callerOf, tenantOf } from '../support/tenants.ts';

const eventOf = (changes: number) => ({ changes: Array.from({ length: changes }, () => null) });

/** Has events of so many changes resolved, and tells which were begun after which was done. */
async function resolved(...sizes: readonly number[]) {
  const work = new EventWork();
  const log: string[] = [];
  const ends: (() => void)[] = [];
  const all = sizes.map((size) =>
    work.resolve(size < 0 ? null : eventOf(size), async () => {
      log.push(`begin ${size}`);
      await new Promise<void>((resolve) => ends.push(resolve));
      log.push(`end ${size}`);
    }),
  );
  for (let i = 0; i < sizes.length; i += 1) {
    await turn();
    ends.shift()?.();
  }
  await Promise.all(all);
  return log;
}

it('as many changes are resolved at the same time as there is room for', async () => {
  expect(await resolved(2_000, 2_500, 600)).toEqual([
    'begin 2000',
    'begin 2500',
    'end 2000',
    'begin 600',
    'end 2500',
    'end 600',
  ]);
});

it('a change that is larger than the room is resolved alone, and one that tells of no change beside others', async () => {
  expect(await resolved(80_000, 1)).toEqual(['begin 80000', 'end 80000', 'begin 1', 'end 1']);
  expect(await resolved(-1, 4_900)).toEqual(['begin -1', 'begin 4900', 'end -1', 'end 4900']);
});

describe('places', () => {
  function open(refusal: Awaited<ReturnType<Admission['enter']>> = null) {
    const log: string[] = [];
    const places = new SubscriptionPlaces(20, {
      async enter({ tenant }) {
        log.push(`enter ${tenant.digest}`);
        await turn();
        return refusal;
      },
      leave: ({ tenant }) => log.push(`leave ${tenant.digest}`),
    });
    return {
      log,
      prove: (key: string) => tenantOf(key).accept(),
      take: (key: string) => places.take(callerOf(key)),
    };
  }

  it('places of subscriptions are as many as one key may have, each given back once', () => {
    const { take } = open();
    const taken = Array.from({ length: 20 }, () => take('key'));
    expect(() => take('key')).toThrow('There are 20 subscriptions under this key already');
    take('another');
    taken[0]?.giveBack();
    taken[0]?.giveBack();
    take('key');
    expect(() => take('key')).toThrow('MAX_SUBSCRIPTIONS');
  });

  it('places of subscriptions of a key take one place among operations together, and 16 of them begin at the same time', async () => {
    const { take, log } = open();
    let atOnce = 0;
    let most = 0;
    const begin = async () => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await turn();
      atOnce -= 1;
    };
    const taken = [...Array.from({ length: 20 }, () => take('key')), take('another')];
    await Promise.all(taken.map((place) => place.begin(begin)));
    expect(most).toBe(17);
    expect(log).toEqual(['enter key', 'enter another', 'leave another', 'leave key']);
    await taken[0]?.begin(async () => {});
    expect(log.slice(4)).toEqual(['enter key', 'leave key']);
  });

  it('places of subscriptions are refused together where the gateway is overloaded, and nothing is left', async () => {
    const { take, log } = open('full');
    const begun = [take('key'), take('key')].map((place) => place.begin(async () => 'begun'));
    expect(await Promise.allSettled(begun)).toMatchObject([
      { status: 'rejected', reason: { code: 'OVERLOADED' } },
      { status: 'rejected', reason: { code: 'OVERLOADED' } },
    ]);
    expect(log).toEqual(['enter key']);
  });

  it('places of subscriptions that have begun under keys without proof are bounded together, and none of them is in the way of a proven one', async () => {
    const { take, prove } = open();
    const begun = [];
    for (let key = 0; key < 50; key += 1) for (let i = 0; i < 20; i += 1) begun.push(take(`made up ${key}`));
    await Promise.all(begun.map((place) => place.begin(async () => {})));
    expect(() => take('made up too')).toThrow('overloaded');
    prove('key');
    await take('key').begin(async () => {});
    begun[0]?.giveBack();
    take('made up too').giveBack();
    await take('made up 0').begin(async () => {});
    expect(() => take('made up too')).toThrow('overloaded');
    // One that was taken for made up has been accepted since.
    prove('made up 1');
    take('made up too');
  });

  it('places of subscriptions are left by whom they were entered for, though the key has been accepted in between', async () => {
    const flows: boolean[] = [];
    const note = ({ flow }: Caller) => void flows.push(flow === UNPROVEN);
    const places = new SubscriptionPlaces(20, {
      async enter(caller) {
        note(caller);
        return null;
      },
      leave: note,
    });
    const early = places.take({ ...callerOf('key'), flow: UNPROVEN }).begin(turn);
    const late = places.take(callerOf('key')).begin(async () => {
      await early;
    });
    await Promise.all([early, late]);
    expect(flows).toEqual([true, true]);
  });

  describe('of which each is read in a turn of its own', () => {
    /** Takes a place under one of many made-up keys, or under a proven one. */
    const unprovenOf = (key: string): Caller => ({ ...callerOf(key), flow: UNPROVEN });

    it('a subscription is read in a turn of its own under any key, while others have theirs', async () => {
      const { take } = open();
      const log: string[] = [];
      const places = Array.from({ length: 3 }, () => take('key'));
      const read = places.map((place, i) => place.read(() => log.push(`read ${i}`)));
      log.push('all are taken');
      await Promise.all(read);
      expect(log).toEqual(['all are taken', 'read 0', 'read 1', 'read 2']);
    });

    it('of subscriptions under keys without proof two wait for a turn to be read, and no more', async () => {
      const places = new SubscriptionPlaces(20, { enter: async () => null, leave() {} });
      const read = Array.from({ length: 40 }, (_, i) =>
        places.take(unprovenOf(`made up ${i}`)).read(() => {}),
      );
      await turn();
      expect(UNPROVEN.waiting).toBeLessThanOrEqual(2);
      await Promise.all(read);
    });

    it('subscriptions under keys without proof wait for turns to be read with so many characters in all', async () => {
      const places = new SubscriptionPlaces(20, { enter: async () => null, leave() {} });
      const take = (key: string, characters: number) => places.take(unprovenOf(key), () => characters);
      const taken = Array.from({ length: 4 }, (_, i) => take(`made up ${i}`, 1_000_000));
      expect(() => take('made up', 1_000_000)).toThrow('overloaded');
      places.take(callerOf('proven'), () => 1_000_000);
      await taken[0]?.read(() => {});
      const next = take('made up', 1_000_000);
      expect(() => take('another', 1_000_000)).toThrow('overloaded');
      next.giveBack();
      taken[0]?.giveBack();
      take('another', 1_000_000);
    });

    it('a subscription is read once: one whose place is given back before has left', async () => {
      const places = new SubscriptionPlaces(20, { enter: async () => null, leave() {} });
      const taken = places.take(unprovenOf('key'), () => 4_000_000);
      const read = taken.read(() => {});
      taken.giveBack();
      await read;
      places.take(unprovenOf('key'), () => 4_000_000);
      expect(() => places.take(unprovenOf('key'), () => 4_000_000)).toThrow('overloaded');
    });
  });

  it('places of subscriptions are given back where beginning fails', async () => {
    const { take, log } = open();
    const begun = take('key').begin(() => Promise.reject(new Error('broken')));
    await expect(begun).rejects.toThrow('broken');
    expect(log).toEqual(['enter key', 'leave key']);
  });
});
