import { hash } from 'node:crypto';
import type { GraphQLSchema } from 'graphql';
import { BoundedCache, createLru, type Shrinkable } from '../../cache/lru.ts';
import type { Learned } from '../../observations/planner/learned.ts';
import { footprintOf } from './operation-size.ts';
import type { AskedText } from './persisted.ts';
import { type Prepared, prepareOperation } from './prepared-operation.ts';
import type { ReadText } from './reading.ts';

/** For keys that were accepted lately; others have the share below. */
const MAX_BYTES = 64_000_000;

const UNPROVEN_SHARE = 1 / 8;

/** Operations seen once, by digest. */
const MAX_SEEN = { proven: 20_000, unproven: 2_000 };

export class PreparedOperations implements Shrinkable {
  readonly #schema: GraphQLSchema;
  readonly #learned: Learned | null;
  readonly #proven: OperationsTable;
  readonly #unproven: OperationsTable;

  /**
   * @param learned bounds operations by the sizes of the service's own lists
   * @param maxBytes of the operations that are cached
   */
  constructor(schema: GraphQLSchema, learned: Learned | null = null, maxBytes = MAX_BYTES) {
    this.#schema = schema;
    this.#learned = learned;
    this.#proven = createTable('proven', maxBytes);
    this.#unproven = createTable('unproven', maxBytes * UNPROVEN_SHARE);
  }

  find(asked: AskedText, isProven: boolean): Prepared | undefined {
    const name = nameOfText(asked);
    const cachedOperation = this.#proven.ready.get(name);
    if (cachedOperation !== undefined) return cachedOperation.prepared;
    const entry = this.#unproven.ready.get(name);
    if (entry !== undefined && isProven) this.#proven.ready.set(name, entry);
    return entry?.prepared;
  }

  /** Caches it from its second use on: `isKept` tells whether it is. */
  prepare(
    { text, operationName, document, operation }: ReadText & AskedText,
    isProven: boolean,
  ): { readonly prepared: Prepared; readonly isKept: boolean } {
    const prepared = prepareOperation(this.#schema, document, operation, this.#learned);
    const { seen, ready } = isProven ? this.#proven : this.#unproven;
    const name = nameOfText({ text, operationName });
    const digest = hash('sha1', name);
    const isKept = this.#proven.seen.has(digest) || this.#unproven.seen.has(digest);
    if (isKept) ready.set(name, { prepared, bytes: footprintOf(text, prepared) });
    else seen.set(digest, true);
    return { prepared, isKept };
  }

  shrink(share: number): void {
    this.#proven.ready.shrink(share);
    this.#unproven.ready.shrink(share);
  }
}

function nameOfText({ text, operationName }: AskedText): string {
  return `${operationName ?? ''}\n${text}`;
}

type OperationsTable = ReturnType<typeof createTable>;

/** Most made-up operations are never seen again. */
function createTable(whose: 'proven' | 'unproven', maxBytes: number) {
  return {
    seen: createLru<true>(MAX_SEEN[whose]),
    ready: new BoundedCache<{ readonly prepared: Prepared; readonly bytes: number }>(
      maxBytes,
      ({ bytes }) => bytes,
    ),
  };
}
