import { Stopwatch } from '../async/stopwatch.ts';
import { NO_TENANT_CACHE, type TenantCache } from '../cache/tenant-cache.ts';
import type { Config } from '../config.ts';
import type { Failure } from '../errors.ts';
import { openContext } from '../graph/context.ts';
import type { Effort } from '../loaders/effort.ts';
import type { LoadersParts } from '../loaders/loaders.ts';
import { createBatchGate } from '../observations/batch-gate.ts';
import type { ObservationClient } from '../observations/client.ts';
import type { QuotaRecord } from '../quota/account.ts';
import { type Caller, openBill, type Sending } from '../upstream/call.ts';
import { Deadline } from '../upstream/deadline.ts';
import { payerOf } from '../upstream/payer.ts';
import type { FieldTraces } from './field-traces.ts';
import { isExplained, type OpenRun, type OperationRun } from './operation-run.ts';

export interface OpenRunParts
  extends Pick<LoadersParts, 'ask' | 'tickersLearned' | 'learned' | 'hasPlenty' | 'heldNames'> {
  readonly config: Config;
  readonly observations: ObservationClient;
  readonly tenantCache: TenantCache;
  readonly effortFor: (caller: Caller) => Effort;
  readonly fieldTraces: FieldTraces;
  readonly keyRefusal: (keyDigest: string) => Failure | null;
  readonly quota: (keyDigest: string) => Promise<QuotaRecord>;
  readonly now: () => number;
  readonly steadyNow: () => number;
}

/** Makes the parts of one operation's run: its bill, its deadline, its loaders. */
export function createOpenRun(parts: OpenRunParts): OpenRun {
  const { config, observations, tenantCache, effortFor, fieldTraces, quota, now, steadyNow } = parts;
  return (request, caller, trace, delivery = null) => {
    const bill = openBill();
    const waits = { service: new Stopwatch(), store: new Stopwatch() };
    const startedAtMs = now();
    const timeoutMs = config.operationTimeoutMs;
    const deadline = new Deadline({ startedAtMs: steadyNow(), timeoutMs, now: steadyNow, request });
    const payer = payerOf(bill, config.maxUpstreamCalls);
    const sending: Sending = {
      caller,
      bill,
      waits,
      payer,
      signal: deadline.signal,
      deadline,
      trace,
      waitDeadlineMs: startedAtMs + Math.min(config.rateLimitWaitMs, timeoutMs),
      onHeld(freshUntilMs) {
        if (freshUntilMs < run.freshUntilMs) run.freshUntilMs = freshUntilMs;
      },
      onFetched(freshUntilMs) {
        if (freshUntilMs < run.fetchedUntilMs) run.fetchedUntilMs = freshUntilMs;
      },
    };
    const fieldTrace = delivery === null ? fieldTraces.begin(request) : null;
    const { participant, figures } = observations.join(caller);
    // The others of the batch are about to ask: the first to ask waits until all their demands are known.
    if (request.isBatched) participant.expect();
    const run: OperationRun = {
      context: openContext({
        ask: parts.ask,
        sending,
        figures,
        batchGate: createBatchGate(config.batchHoldMs),
        effort: effortFor(caller),
        tickersLearned: parts.tickersLearned,
        learned: parts.learned,
        hasPlenty: parts.hasPlenty,
        heldNames: parts.heldNames,
        maxListItems: config.maxListItems,
        keyRefusal: () => parts.keyRefusal(caller.keyDigest),
        quota() {
          run.isLasting = false;
          return quota(caller.keyDigest);
        },
      }),
      participant,
      deadline,
      payer,
      bill,
      waits,
      trace,
      fieldTrace,
      startedAtMs,
      requestId: request.requestId,
      accepts: request.headers.accept ?? '',
      isExplained: isExplained(request),
      delivery,
      errors: null,
      written: null,
      freshUntilMs: Number.POSITIVE_INFINITY,
      fetchedUntilMs: tenantCache === NO_TENANT_CACHE ? 0 : Number.POSITIVE_INFINITY,
      generation: tenantCache.generation(caller.keyDigest),
      isOfSchema: false,
      // A trace is of one run. It would be of no other that got the same answer.
      isLasting: fieldTrace === null,
    };
    return run;
  };
}
