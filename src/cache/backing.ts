/** The contract of a store outside this process, and the parts that several kinds of stores share. */

import type { KeyvStorageEntry } from 'keyv';
import type { Leases, SharedCounters } from './store.ts';

export type OnError = (error: unknown) => void;

/** One kind of store. Its methods may fail and hang: `guarded-backing.ts` stands before it. */
export interface Backing {
  readonly adapter: Adapter;
  readonly sharedCounters: SharedCounters | null;
  readonly leases: Leases | null;
  /** Looks without waiting; left out if the store is too far away for that. */
  readonly peek?: Peek | undefined;
  clear(prefix: string): Promise<void>;
  first(name: string, value: string): Promise<string>;
  /** Calls back each time that the store has been replaced or connected anew; left out if that can't happen. */
  readonly onReturn?: (listener: () => void) => void;
  close(): Promise<void>;
}

/** @throws Error if nothing can be read just now */
export type Peek = () => {
  /** Differs from that of all earlier looks if others have changed anything since. */
  readonly version: number;
  /** Returns texts by the places of their keys. */
  read(keys: readonly string[]): readonly unknown[];
};

/** The part of Keyv's storage contract that is used: text or Keyv's envelopes in, the same out. */
export interface Adapter {
  getMany(keys: string[]): Promise<unknown[]>;
  setMany(entries: KeyvStorageEntry[]): Promise<unknown>;
}
