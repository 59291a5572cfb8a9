import { LRUCache } from 'lru-cache';
import type { Answers } from '../async/channel.ts';
import { createLeases, type Lease, type LeaseTerms } from './leases.ts';
import type { Shrinkable } from './lru.ts';
import { createTexts } from './memory.ts';
import { createMemoryCounters } from './memory-counters.ts';
import type { Note, Window } from './shared-counters.ts';

/**
 * A store that one process holds for others: text by keys, counters, leases. Each of them is told of the others'
 * changes.
 */
export interface Hub extends Shrinkable {
  /** @returns the questions that the member may ask, and a function that ends its membership */
  join(member: HubMember): { readonly answers: Answers; readonly leave: () => void };
}

/** Another process that shares the hub's store. */
export interface HubMember {
  /** Settles once the member has heard or failed to. */
  hear(news: HubNews): Promise<unknown>;
}

/** News that a member hears of others: its kind, and its content. */
export type HubNews =
  | ['store.changed', keys: readonly string[]]
  | ['store.cleared', prefix: string]
  | ['store.told', key: string, text: string];

/** One value, as text, with its expiry in milliseconds since the epoch. */
export interface HubEntry {
  readonly key: string;
  readonly text: string;
  readonly expires: number | undefined;
}

/** Names under which a value was given first; callers choose none of them. */
const MAX_FIRSTS = 100;

/** @param elapsed milliseconds since any instant, by a clock that nobody can set */
export function createHub(maxBytes: number, elapsed: () => number = () => performance.now()): Hub {
  const held = createTexts(maxBytes);
  const counters = createMemoryCounters();
  const leases = createLeases(elapsed);
  const firsts = new LRUCache<string, string>({ max: MAX_FIRSTS });
  const members = new Set<HubMember>();

  function tellOthers(teller: HubMember, ...news: HubNews): Promise<unknown> {
    const others = [...members].filter((member) => member !== teller);
    return Promise.all(others.map((other) => other.hear(news).catch(() => {})));
  }

  /** @param taken leases that the member has, by holder: they end with it */
  const answersTo = (member: HubMember, taken: Map<string, Lease>): Answers => ({
    'store.get': (keys: readonly string[]) => keys.map(held.get),
    'store.set'(entries: readonly HubEntry[]) {
      for (const { key, text, expires } of entries) held.set(key, text, expires);
      void tellOthers(
        member,
        'store.changed',
        entries.map(({ key }) => key),
      );
    },
    'store.clear'(prefix: string) {
      held.clear(prefix);
      return tellOthers(member, 'store.cleared', prefix).then(() => {});
    },
    'store.tell': (key: string, text: string) => tellOthers(member, 'store.told', key, text).then(() => {}),
    'store.first'(name: string, value: string) {
      const first = firsts.get(name) ?? value;
      firsts.set(name, first);
      return first;
    },
    'counters.take': (account: string, at: Window) => counters.take(account, at),
    'counters.read': (account: string, at: Window) => counters.read(account, at),
    'counters.note': (account: string, note: Note) => counters.note(account, note),
    async 'leases.take'(lease: Lease, terms: LeaseTerms) {
      const states = await leases.take(lease, terms);
      if (states?.includes('own')) taken.set(lease.holder, lease);
      return states;
    },
    'leases.look': (group: string, names: readonly string[]) => leases.look(group, names),
    'leases.end'(lease: Lease, isFetched: boolean) {
      taken.delete(lease.holder);
      return leases.end(lease, isFetched);
    },
  });

  return {
    shrink: held.shrink,
    join(member) {
      const taken = new Map<string, Lease>();
      members.add(member);
      return {
        answers: answersTo(member, taken),
        leave() {
          members.delete(member);
          for (const lease of taken.values()) void leases.end(lease, false);
        },
      };
    },
  };
}
