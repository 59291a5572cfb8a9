import { LRUCache } from 'lru-cache';
import type { OperationParams } from './requests.ts';
import { ENCODED_SHARE, OVERHEAD_BYTES, type StoredAnswer, storedAnswer } from './response-cache.ts';

/** Answers to questions about the schema: the same for every key, for as long as the program runs. */
export interface SchemaAnswers {
  find(params: OperationParams): StoredAnswer | null;
  keep(params: OperationParams, body: string | Buffer, event: StoredAnswer['event']): void;
}

/** The introspection of all of the schema takes some 100 KB. */
const MAX_BYTES = 4 * 1024 * 1024;

export function createSchemaAnswers(maxBytes: number): SchemaAnswers {
  if (maxBytes === 0) return { find: () => null, keep() {} };
  const entries = new LRUCache<string, StoredAnswer>({
    maxSize: Math.min(maxBytes, MAX_BYTES),
    sizeCalculation: ({ body }, name) =>
      OVERHEAD_BYTES + 2 * name.length + Math.ceil(body.length * (1 + ENCODED_SHARE)),
  });
  const nameOf = ({ text, operationName, variables }: OperationParams) =>
    `${operationName ?? ''}\n${JSON.stringify(variables)}\n${text}`;
  return {
    find: (params) => entries.get(nameOf(params)) ?? null,
    keep(params, body, event) {
      entries.set(
        nameOf(params),
        storedAnswer(body, (bytes) => bytes, event),
      );
    },
  };
}
