import type { Answers, Channel } from '../async/channel.ts';
import type { Backing } from './backing.ts';
import type { HubEntry } from './hub.ts';
import type { Leases } from './leases.ts';
import type { SharedCounters } from './shared-counters.ts';

/** A member's end of the way to a hub. */
export interface HubLink extends HubListening {
  readonly ask: Channel['ask'];
  /** Bytes of the hub's values that may be held here besides, roughly. */
  readonly nearBytes: number;
}

/** Has listeners called with the changes that others make. */
export interface HubListening {
  onChanged(listener: (keys: readonly string[]) => void): void;
  onCleared(listener: (prefix: string) => void): void;
  onTold(listener: (key: string, text: string) => void): void;
}

/** @returns the questions that the hub may ask of this member, and the listeners that hear of them */
export function createHubListening(): { readonly answers: Answers; readonly listening: HubListening } {
  const [onChanged, changed] = listeners<[keys: readonly string[]]>();
  const [onCleared, cleared] = listeners<[prefix: string]>();
  const [onTold, told] = listeners<[key: string, text: string]>();
  return {
    answers: { 'store.changed': changed, 'store.cleared': cleared, 'store.told': told },
    listening: { onChanged, onCleared, onTold },
  };
}

function listeners<Args extends unknown[]>() {
  const all: ((...args: Args) => void)[] = [];
  const add = (listener: (...args: Args) => void) => void all.push(listener);
  const call = (...args: Args) => {
    for (const listener of all) listener(...args);
  };
  return [add, call] as const;
}

/** Opens the values that a hub in another process holds. */
export function openHubBacking({ ask }: HubLink): Backing {
  const asking =
    (name: string) =>
    // biome-ignore lint/suspicious/noExplicitAny: the hub's answers have the types of what is asked
    (...args: readonly unknown[]): Promise<any> =>
      ask(name, ...args);
  const sharedCounters: SharedCounters = {
    take: asking('counters.take'),
    read: asking('counters.read'),
    note: asking('counters.note'),
  };
  const leases: Leases = {
    take: asking('leases.take'),
    look: asking('leases.look'),
    end: asking('leases.end'),
  };
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
    holdsObjects: false,
    peek: null,
    sharedCounters,
    leases,
    clear: asking('store.clear'),
    first: asking('store.first'),
    async close() {},
  };
}
