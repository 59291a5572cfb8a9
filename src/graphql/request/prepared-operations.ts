import type { GraphQLSchema } from 'graphql';
import { BoundedCache, type Shrinkable } from '../../cache/lru.ts';
import type { Learned } from '../../observations/planner/learned.ts';
import { footprintOf } from './operation-size.ts';
import type { AskedText } from './persisted.ts';
import { type Prepared, prepareOperation, type ValidOperation } from './prepared-operation.ts';

/** Bytes of operations that are cached for keys that were accepted lately; other keys have the share below. */
const MAX_BYTES = 64_000_000;

const UNPROVEN_SHARE = 1 / 8;

/** Share of the bytes that is for operations which have come once. */
const FIRST_SHARE = 1 / 4;

/**
 * Operations that were found valid. Most that are made up are never seen again, so those which have come once are cached apart
 * (a segmented LRU): they take the place of each other, and of none that has come again.
 */
export class PreparedOperations implements Shrinkable {
  readonly #schema: GraphQLSchema;
  readonly #learned: Learned | null;
  readonly #proven: OperationsTable;
  readonly #unproven: OperationsTable;

  /**
   * @param learned knows the sizes that the service's own lists have shown: operations are bounded by them
   * @param maxBytes of the operations that are cached
   */
  constructor(schema: GraphQLSchema, learned: Learned | null = null, maxBytes = MAX_BYTES) {
    this.#schema = schema;
    this.#learned = learned;
    this.#proven = createTable(maxBytes);
    this.#unproven = createTable(maxBytes * UNPROVEN_SHARE);
  }

  find(asked: AskedText, isProven: boolean): Prepared | undefined {
    const name = nameOf(asked);
    const again = this.#proven.again.get(name);
    if (again !== undefined) return again.prepared;
    const entry =
      this.#proven.once.get(name) ?? this.#unproven.again.get(name) ?? this.#unproven.once.get(name);
    if (entry === undefined) return undefined;
    (isProven ? this.#proven : this.#unproven).again.set(name, entry);
    return entry.prepared;
  }

  /** Prepares a valid operation, and keeps it ready. */
  prepare({ text, operationName, document, operation }: ValidOperation, isProven: boolean): Prepared {
    const prepared = prepareOperation(this.#schema, document, operation, this.#learned);
    const { once } = isProven ? this.#proven : this.#unproven;
    once.set(nameOf({ text, operationName }), { prepared, bytes: footprintOf(text, prepared) });
    return prepared;
  }

  shrink(share: number): void {
    for (const { once, again } of [this.#proven, this.#unproven]) {
      once.shrink(share);
      again.shrink(share);
    }
  }
}

function nameOf({ text, operationName }: AskedText): string {
  return `${operationName ?? ''}\n${text}`;
}

interface Entry {
  readonly prepared: Prepared;
  readonly bytes: number;
}

type OperationsTable = ReturnType<typeof createTable>;

function createTable(maxBytes: number) {
  const segment = (share: number) => new BoundedCache<Entry>(share * maxBytes, ({ bytes }) => bytes);
  return { once: segment(FIRST_SHARE), again: segment(1 - FIRST_SHARE) };
}
