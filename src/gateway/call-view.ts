import { PUBLIC, type Tenant } from '../keys/tenant.ts';
import type { TenantCache } from '../keys/tenant-cache.ts';
import type { CallStage, OutgoingCall } from '../plugin/calls.ts';
import { type CachedAnswer, nameOfCall } from '../service/cached-answers.ts';
import type { Call, Send } from '../service/call.ts';
import { etlStatus, health, observations } from '../service/endpoints.ts';
import type { Sending } from '../service/sending.ts';

const ABOUT = new Map<string, OutgoingCall['about']>([
  [observations.route, 'figures'],
  [etlStatus.route, 'sources'],
  [health.route, 'health'],
]);

/** @param tenantCache opens after the stages are made */
export function sendThrough(stage: CallStage, tenantCache: () => TenantCache): (next: Send) => Send {
  return (next) => (call, sending) =>
    stage(new CallView(call, sending, tenantCache), (changes) => next(call, { ...sending, ...changes }));
}

class CallView implements OutgoingCall {
  readonly route: string;
  readonly target: string;
  readonly #call: Call;
  readonly #sending: Sending;
  readonly #tenantCache: () => TenantCache;

  constructor(call: Call, sending: Sending, tenantCache: () => TenantCache) {
    this.route = call.route;
    this.target = call.target;
    this.#call = call;
    this.#sending = sending;
    this.#tenantCache = tenantCache;
  }

  get about() {
    return ABOUT.get(this.route) ?? 'other';
  }

  get #tenant(): Tenant {
    return this.#call.isPublic ? PUBLIC : this.#sending.caller.tenant;
  }

  get owner() {
    return this.#call.isPublic ? '' : this.#tenant.digest;
  }

  get signal() {
    return this.#sending.signal;
  }

  get trace() {
    return this.#sending.trace;
  }

  async cached() {
    const entry = await this.#tenantCache().readOne<CachedAnswer>(this.#tenant, nameOfCall(this.#call));
    return entry?.value.status === 200 ? { body: entry.value.body } : null;
  }

  sourceRunsIn(body: unknown) {
    return etlStatus
      .decode(body, {}, 0)
      .map(({ key, lastSuccessfulRefresh }) => ({ key, lastRunAt: lastSuccessfulRefresh }));
  }

  recheckFigures(beforeMs: number) {
    return this.#tenantCache().recheck(this.#tenant, beforeMs);
  }
}
