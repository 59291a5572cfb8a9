import { LRUCache } from 'lru-cache';
import type { PromiseOrValue } from '../async/promise-or-value.ts';
import { type Shrinkable, shrinkTo } from '../cache/lru.ts';
import type { TenantCache } from '../cache/tenant-cache.ts';
import { byteLengthOf, type TextPieces } from '../execution/text-pieces.ts';
import type { OperationEvent } from './events.ts';
import type { OperationParams } from './requests.ts';
import { dataIn, entityTag } from './responses.ts';

/** An answer that took no call, as bytes. It answers the same question again, as long as all of it is fresh. */
export interface StoredAnswer {
  readonly body: Buffer;
  /** See {@link entityTag}. */
  readonly tag: () => string;
  /** Compressed forms of the body by their `Content-Encoding`, once somebody has asked for them. */
  readonly encoded: Map<string, Promise<Buffer>>;
  /** Milliseconds since the epoch until which all of it is known to hold; 0 if that isn't known, or it isn't whole. */
  readonly freshUntilMs: number;
  readonly event: Omit<OperationEvent, 'durationMs' | 'requestId'>;
}

/** The question that an answer belongs to. */
export interface Question extends Omit<OperationParams, 'isPersisted'> {
  readonly keyDigest: string;
}

/** Names a question: two questions of one name ask for the same thing. */
export function questionName({ keyDigest, operationName, text, variables }: Question): string {
  return `${keyDigest}\n${operationName ?? ''}\n${JSON.stringify(variables)}\n${text}`;
}

export interface ResponseCache extends Shrinkable {
  /** Returns the answer that still holds; at once, if nobody else can know more of the key. */
  find(question: Question): PromiseOrValue<StoredAnswer | null>;
  /**
   * @param answer with `data` as it stands in the body, and `isWhole` if it lacks nothing
   * @param freshUntilMs when the first of all entries that were read for it is past its time, in milliseconds since the
   * epoch
   * @param generation of the entries that were held for the key before anything was read
   */
  keep(
    question: Question,
    answer: {
      readonly body: string | Buffer;
      readonly data: TextPieces;
      readonly event: StoredAnswer['event'];
      readonly isWhole: boolean;
    },
    freshUntilMs: number,
    generation: number,
  ): void;
}

export interface ResponseCacheParts {
  readonly tenantCache: TenantCache;
  readonly maxBytes: number;
  readonly now: () => number;
}

interface KeptAnswer {
  readonly answer: StoredAnswer;
  readonly freshUntilMs: number;
  /**
   * Generation of the entries that were held for the key when the answer was made: once a newer one is, the answer may
   * be another.
   */
  readonly generation: number;
}

/** Share of the body that compressed forms take; below it, the bytes of an entry beside its body and its question. */
export const ENCODED_SHARE = 0.5;

export const OVERHEAD_BYTES = 1_000;

/** Keeps answers that are made of held ones alone, ahead of every stage that would make them again. */
export function createResponseCache({ tenantCache, maxBytes, now }: ResponseCacheParts): ResponseCache {
  if (maxBytes === 0) return NO_ANSWERS;
  const entries = new LRUCache<string, KeptAnswer>({
    maxSize: maxBytes,
    sizeCalculation: ({ answer: { body } }, name) =>
      OVERHEAD_BYTES + 2 * name.length + Math.ceil(body.length * (1 + ENCODED_SHARE)),
  });

  function holding(name: string, { keyDigest }: Question): StoredAnswer | null {
    const entry = entries.get(name);
    if (entry === undefined) return null;
    if (entry.freshUntilMs <= now() || entry.generation !== tenantCache.generation(keyDigest)) {
      entries.delete(name);
      return null;
    }
    return tenantCache.isAccepted(keyDigest) ? entry.answer : null;
  }

  return {
    find(question) {
      const name = questionName(question);
      const answer = holding(name, question);
      if (answer === null || tenantCache.isAtHand) return answer;
      return tenantCache.lookUp(question.keyDigest).then(() => holding(name, question));
    },
    keep(question, { body, data, event, isWhole }, freshUntilMs, generation) {
      // It would never be found again, but take the place of one that is: a public answer serves any key.
      if (!tenantCache.isAccepted(question.keyDigest)) return;
      const dataBytes = byteLengthOf(data);
      const answer = storedAnswer(
        body,
        (bytes) => dataIn(bytes, dataBytes),
        event,
        isWhole ? freshUntilMs : 0,
      );
      entries.set(questionName(question), { answer, freshUntilMs, generation });
    },
    shrink: (share) => shrinkTo(entries, share),
  };
}

/** @param dataOf the bytes of the body that name the answer */
export function storedAnswer(
  written: string | Buffer,
  dataOf: (body: Buffer) => Buffer,
  event: StoredAnswer['event'],
  freshUntilMs = 0,
): StoredAnswer {
  const body = typeof written === 'string' ? Buffer.from(written) : written;
  let tag: string | undefined;
  return {
    body,
    tag() {
      tag ??= entityTag(dataOf(body));
      return tag;
    },
    encoded: new Map(),
    freshUntilMs,
    event,
  };
}

const NO_ANSWERS: ResponseCache = { find: () => null, keep() {}, shrink() {} };
