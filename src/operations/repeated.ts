import { mapValue } from '../async/promise-or-value.ts';
import type { Lookups } from '../cache/lookups.ts';
import { rounded, secondsUntil, setHeaders } from './answer-headers.ts';
import { provenBy } from './callers.ts';
import type { OperationEvent } from './events.ts';
import type { FieldTraces } from './field-traces.ts';
import { eventOf, isLasting, type OperationRun, type WrittenAnswer } from './operation-run.ts';
import type { Handle } from './pipeline.ts';
import { mayReadSchema, readsSchemaAlone } from './prepared.ts';
import type { OperationParams } from './requests.ts';
import type { ResponseCache } from './response-cache.ts';
import { tagged } from './responses.ts';
import type { SchemaAnswers } from './schema-answers.ts';
import { describeOperation } from './traced.ts';

export interface RepeatedParts {
  readonly responseCache: ResponseCache;
  readonly schemaAnswers: SchemaAnswers;
  readonly fieldTraces: Pick<FieldTraces, 'areWanted'>;
  readonly now: () => number;
  readonly steadyNow: () => number;
  readonly onOperation: (event: OperationEvent) => void;
  /** Counts hits and misses among the answers that are kept. */
  readonly lookups: Lookups;
}

/** Repeats an earlier answer as long as it holds; leaves the rest to the next stage. */
export function repeated(next: Handle, parts: RepeatedParts): Handle {
  const { responseCache, schemaAnswers, fieldTraces, now, steadyNow, onOperation, lookups } = parts;
  return (incoming) => {
    const { request, caller, plain } = incoming;
    if (plain === null || fieldTraces.areWanted(request)) return next(incoming);
    const { params, contentType } = plain;
    const startedAtMs = now();
    const ofSchema = mayReadSchema(params.text) ? schemaAnswers.find(params) : null;
    const lookingSinceMs = performance.now();
    const stored = ofSchema ?? responseCache.find({ ...params, keyDigest: caller.keyDigest });
    return mapValue(stored, (answer) => {
      if (answer === null) {
        lookups.misses += 1;
        return next(incoming);
      }
      lookups.hits += 1;
      if (incoming.trace !== undefined) describeOperation(incoming.trace, answer.event);
      const { body, tag, encoded, event, freshUntilMs } = answer;
      const headers = new Map([['content-type', contentType]]);
      setHeaders(headers, {
        status: 200,
        errors: [],
        nowMs: startedAtMs,
        maxAgeSeconds: secondsUntil(freshUntilMs, steadyNow()),
        timing: `upstream;dur=0, cache;dur=${rounded(performance.now() - lookingSinceMs)}`,
      });
      onOperation({ ...event, durationMs: now() - startedAtMs, requestId: request.requestId });
      return tagged(request, params.isPersisted, { status: 200, headers, body, encoded }, [], tag);
    });
  };
}

/** Keeps answers for the next time that the same is asked. */
export interface AnswerKeeping {
  /** Keeps the answer of a run if it holds for a while. */
  keep(params: OperationParams, answer: WrittenAnswer, run: OperationRun): void;
  /** Keeps an answer about the schema. */
  keepOfSchema(params: OperationParams, body: string | Buffer, run: OperationRun): void;
}

export function createAnswerKeeping({
  responseCache,
  schemaAnswers,
}: Pick<RepeatedParts, 'responseCache' | 'schemaAnswers'>): AnswerKeeping {
  function keepOfSchema(
    params: OperationParams,
    body: string | Buffer,
    { bill, fieldTrace }: OperationRun,
  ): void {
    if (fieldTrace !== null) return;
    const event = { ...eventOf(bill, null, []), type: 'query' as const, repeated: true };
    schemaAnswers.keep(params, body, event);
  }

  return {
    keepOfSchema,
    keep(params, { body, data, operation }, run) {
      const isOfSchema =
        mayReadSchema(params.text) && readsSchemaAlone(operation) && run.errors?.length === 0;
      if (isOfSchema) keepOfSchema(params, body, run);
      if (!isLasting(run)) return;
      const event = { ...eventOf(run.bill, operation, []), ...provenBy(run.context.caller), repeated: true };
      const question = { ...params, keyDigest: run.context.caller.keyDigest };
      const isWhole = run.context.warnings.told() === undefined;
      responseCache.keep(question, { body, data, event, isWhole }, run.freshUntilMs, run.generation);
    },
  };
}
