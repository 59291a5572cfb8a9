import { randomUUID } from 'node:crypto';
import { Mutex } from 'async-mutex';
import { type KeyTerms, SumsBook } from '../../plugin/index.ts';
import { dayOf, type IssuedKey } from './key.ts';
import { type KeyStore, MEASURES, OTHER, rowsOf, sumsOf, type UsageRow } from './key-store.ts';

type NotedOperation = Parameters<NonNullable<KeyTerms['note']>>[0];

const DAY_MS = 86_400_000;

/** Milliseconds between two writes. */
const GATHER_MS = 1_000;

/** Headers in which clients of Apollo, The Guild and others name themselves. */
const CLIENT_HEADERS = ['apollographql-client-name', 'graphql-client-name', 'x-graphql-client-name'] as const;

/** Keys that metrics tell apart; the others are one. */
const MAX_KEYS = 100;

/** Characters that are kept of a name. */
const MAX_NAME = 64;

const plainName = (text: string) => text.replace(/[^\x20-\x7e]+/g, '?').slice(0, MAX_NAME);

export function clientOf(headers: Readonly<Record<string, string>>): string {
  const header = CLIENT_HEADERS.find((name) => headers[name] !== undefined);
  return plainName(headers[header ?? ''] ?? '');
}

/** Gathers the usage of this process, and adds it to that of the store. */
export class Usage {
  readonly #store: KeyStore;
  readonly #now: () => number;
  #gathered = new SumsBook();
  /** Rows being written, under a name by which they count once. */
  #leaving: { readonly batch: string; readonly rows: readonly UsageRow[] } | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** One batch at a time; what is noted meanwhile goes with the next. */
  readonly #turn = new Mutex();
  /** Sums since the process began, by key and measure. */
  readonly #sums = new Map<string, Record<string, number>>();

  constructor(store: KeyStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  note({ name: key }: IssuedKey, client: string, document: string, operation: NotedOperation): void {
    const { calls, shared, cached, errorCodes, isPart } = operation;
    const counts: Record<string, number> = { operations: isPart ? 0 : 1, calls, shared, cached };
    if (errorCodes.length > 0) counts.failed = 1;
    for (const code of errorCodes) counts[code] = (counts[code] ?? 0) + 1;
    const row = { day: dayOf(this.#now()), key, client, document: plainName(document), counts };
    this.#gathered.add(sumsOf(row));
    const name = this.#sums.has(key) || this.#sums.size < MAX_KEYS ? key : OTHER;
    const sums = this.#sums.get(name) ?? {};
    for (const measure of MEASURES) sums[measure] = (sums[measure] ?? 0) + (counts[measure] ?? 0);
    this.#sums.set(name, sums);
    this.#timer ??= setTimeout(() => void this.flush(), GATHER_MS).unref();
  }

  totals() {
    return Array.from(this.#sums, ([key, sums]) => {
      const { operations = 0, failed = 0, calls = 0, shared = 0, cached = 0 } = sums;
      return { key, operations, failed, calls, shared, cached };
    });
  }

  /** Rows that the store can't take are written later. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#turn.runExclusive(async () => {
      const isAgain = this.#leaving !== null;
      if ((await this.#send()) && isAgain) await this.#send();
    });
  }

  /** True if nothing is left to write. */
  async #send(): Promise<boolean> {
    if (this.#leaving === null) {
      const rows = rowsOf(this.#gathered.sums());
      if (rows.length === 0) return true;
      this.#leaving = { batch: randomUUID(), rows };
      this.#gathered = new SumsBook();
    }
    try {
      const retainedFrom = dayOf(this.#now() - RETENTION_DAYS * DAY_MS);
      await this.#store.addUsage(this.#leaving.rows, this.#leaving.batch, retainedFrom);
      this.#leaving = null;
      return true;
    } catch {
      this.#timer ??= setTimeout(() => void this.flush(), GATHER_MS).unref();
      return false;
    }
  }
}

export const RETENTION_DAYS = 92;
