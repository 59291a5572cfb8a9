import { Kind, type OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { OperationParams } from './requests.ts';
import { type StoredAnswer, storedAnswer } from './response-cache.ts';

/** Answers to questions about the schema: the same for every key, for as long as the program runs. */
export interface SchemaAnswers {
  find(params: OperationParams): StoredAnswer | null;
  keep(params: OperationParams, body: string | Buffer, event: StoredAnswer['event']): void;
}

/** The introspection of all of the schema takes some 100 KB. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Bytes that an entry takes beside its body and its question; below it, compressed forms as a share of the body. */
const OVERHEAD_BYTES = 1_000;
const ENCODED_SHARE = 0.5;

/** Fields of the root that read the schema, and one that reads nothing. */
const SCHEMA_FIELDS = /^(__schema|__type|_service)$/;

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

/** Tells if a text may ask about the schema at all: most don't, and needn't be looked up. */
export function mayReadSchema(text: string): boolean {
  return (
    text.includes('__schema') ||
    text.includes('_service') ||
    (text.includes('__type') && /__type(?!name)/.test(text))
  );
}

/** Tells if an operation reads the schema and nothing else. */
export function readsSchemaAlone({ selectionSet }: OperationDefinitionNode): boolean {
  let count = 0;
  for (const selection of selectionSet.selections) {
    if (selection.kind !== Kind.FIELD) return false;
    const { value } = selection.name;
    if (SCHEMA_FIELDS.test(value)) count += 1;
    else if (value !== '__typename') return false;
  }
  return count > 0;
}
