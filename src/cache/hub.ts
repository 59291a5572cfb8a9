import { createBirpc } from 'birpc';
import { type AccountCounts, type Backing, countersOver, createLeases } from './backing.ts';
import { createLru, ValueCache } from './lru.ts';
import type { HubLink, Lease, LeaseTerms } from './store.ts';

const MAX_ACCOUNTS = 50_000;

/** Methods that another process may call, by name. */
type Answers = Readonly<Record<string, (...args: never[]) => unknown>>;

interface ChannelWay {
  readonly send: (message: object) => void;
  readonly listen: (onMessage: (message: unknown) => void) => void;
  /** Milliseconds for an answer. */
  readonly timeoutMs: number;
}

/** Opens one end of a remote procedure channel between two processes. */
export function openChannel(answers: Answers, { send, listen, timeoutMs }: ChannelWay) {
  const channel = createBirpc<Record<string, (...args: unknown[]) => unknown>, Answers, false>(answers, {
    proxify: false,
    post: send,
    on: listen,
    timeout: timeoutMs,
    onTimeoutError(name) {
      throw new Error(`The other process took too long to answer ${name}.`);
    },
  });
  return {
    /** @throws Error if the other process fails, has gone, or doesn't answer in time */
    ask: channel.$call,
    /** Fails all questions that are waiting, and all that are asked from now on. */
    close: () => channel.$close(new Error('The other process has gone.')),
  };
}

/** Another process that shares the hub's store. */
interface HubMember {
  /** Settles once the member has the news, or can't be reached. */
  hear(news: HubNews): Promise<unknown>;
}

type HubNews =
  | ['store.changed', keys: readonly string[]]
  | ['store.cleared', prefix: string]
  | ['store.told', key: string, text: string];

/** `expires` in milliseconds since the epoch. */
interface HubEntry {
  readonly key: string;
  readonly text: string;
  readonly expires: number | undefined;
}

/**
 * A store that one process holds for others (values as text, counters, leases), and tells them of changes.
 * @param elapsed milliseconds since any instant, by a clock that nobody can set
 */
export function createHub(maxBytes: number, elapsed?: () => number) {
  const strings = new ValueCache(maxBytes);
  const leases = createLeases(elapsed);
  const accounts = createLru<AccountCounts>(MAX_ACCOUNTS);
  const counters = countersOver({
    read: (account) => accounts.get(account),
    write: (account, counts) => accounts.set(account, counts),
  });
  /** Values by name, for {@link Backing.first}. Clients choose no names, so the map needs no bound. */
  const firsts = new Map<string, string>();
  const members = new Set<HubMember>();

  function publishToOthers(teller: HubMember, ...news: HubNews): Promise<unknown> {
    const otherMembers = [...members].filter((member) => member !== teller);
    return Promise.all(otherMembers.map((other) => other.hear(news).catch(() => {})));
  }

  /** @param taken the member's leases, by holder: they end with its membership */
  const answersTo = (member: HubMember, taken: Map<string, Lease>): Answers => ({
    'store.get': (keys: readonly string[]) => strings.getMany(keys, Date.now()),
    'store.set'(entries: readonly HubEntry[]) {
      for (const { key, text, expires = Number.POSITIVE_INFINITY } of entries)
        strings.set(key, { value: text, expires });
      void publishToOthers(
        member,
        'store.changed',
        entries.map(({ key }) => key),
      );
    },
    'store.clear'(prefix: string) {
      strings.forget(prefix);
      return publishToOthers(member, 'store.cleared', prefix).then(() => {});
    },
    'store.tell': (key: string, text: string) =>
      publishToOthers(member, 'store.told', key, text).then(() => {}),
    'store.first'(name: string, value: string) {
      const first = firsts.get(name) ?? value;
      firsts.set(name, first);
      return first;
    },
    'counters.take': counters.take,
    'counters.read': counters.read,
    'counters.putBack': counters.putBack,
    'counters.note': counters.note,
    async 'leases.take'(lease: Lease, terms: LeaseTerms) {
      const states = await leases.take(lease, terms);
      if (states?.includes('own')) taken.set(lease.holder, lease);
      return states;
    },
    'leases.look': leases.look,
    'leases.end'(lease: Lease, isFetched: boolean) {
      taken.delete(lease.holder);
      return leases.end(lease, isFetched);
    },
  });

  return {
    shrink: (share: number) => strings.shrink(share),
    join(member: HubMember) {
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

export function createHubListening() {
  const [onChanged, changed] = listeners<[keys: readonly string[]]>();
  const [onCleared, cleared] = listeners<[prefix: string]>();
  const [onPublished, emitNews] = listeners<[key: string, text: string]>();
  const answers: Answers = { 'store.changed': changed, 'store.cleared': cleared, 'store.told': emitNews };
  return { answers, listening: { onChanged, onCleared, onPublished } };
}

function listeners<Args extends unknown[]>() {
  const all: ((...args: Args) => void)[] = [];
  const add = (listener: (...args: Args) => void) => void all.push(listener);
  const call = (...args: Args) => {
    for (const listener of all) listener(...args);
  };
  return [add, call] as const;
}

export function openHubBacking({ ask }: HubLink): Backing {
  const asking =
    (name: string) =>
    // biome-ignore lint/suspicious/noExplicitAny: the hub's answers have the types of what is asked
    (...args: readonly unknown[]): Promise<any> =>
      ask(name, ...args);
  return {
    adapter: {
      getMany: asking('store.get'),
      async setMany(entries) {
        const texts = entries.map(
          ({ key, value, expires }): HubEntry => ({ key, text: String(value), expires }),
        );
        await ask('store.set', texts);
      },
    },
    sharedCounters: {
      take: asking('counters.take'),
      read: asking('counters.read'),
      putBack: asking('counters.putBack'),
      note: asking('counters.note'),
    },
    leases: { take: asking('leases.take'), look: asking('leases.look'), end: asking('leases.end') },
    clear: asking('store.clear'),
    first: asking('store.first'),
    async close() {},
  };
}
