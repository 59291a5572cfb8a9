import type { KeyvStorageEntry } from 'keyv';
import type { Leases } from './leases.ts';
import type { Shrinkable } from './lru.ts';
import type { SharedCounters } from './shared-counters.ts';

/** Takes a fault of the store. */
export type Fault = (error: unknown) => void;

/** One kind of store. Its methods may fail and hang: `guarded.ts` stands before it. */
export interface Backing extends Partial<Shrinkable> {
  /** A storage adapter as Keyv takes it. */
  readonly adapter: Adapter;
  /** True if values are held as they are, not as text. */
  readonly holdsObjects: boolean;
  /** Returns a value that is held as it is; null if values are text. */
  readonly peek: ((key: string) => unknown) | null;
  readonly sharedCounters: SharedCounters | null;
  readonly leases: Leases | null;
  clear(prefix: string): Promise<void>;
  first(name: string, value: string): Promise<string>;
  /** Has the listener called each time that the store is another, or connected anew; left out if that can't happen. */
  readonly onReturn?: (listener: () => void) => void;
  close(): Promise<void>;
}

/** The part of Keyv's storage contract that is used: text or Keyv's envelopes in, the same out. */
export interface Adapter {
  getMany(keys: string[]): Promise<unknown[]>;
  setMany(entries: KeyvStorageEntry[]): Promise<unknown>;
}
