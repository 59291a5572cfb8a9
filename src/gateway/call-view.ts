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
  return (next) => (call, sending) => {
    const view = new CallView(call, sending, tenantCache);
    return stage(view, (changes) => next(call, { ...sending, ...changes })).finally(() => view.end());
  };
}

class CallView implements OutgoingCall {
  readonly route: string;
  readonly target: string;
  readonly #call: Call;
  readonly #sending: Sending;
  readonly #tenantCache: () => TenantCache;
  #isOver = false;

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

  end(): void {
    this.#isOver = true;
  }

  async cached() {
    // Whoever keeps the call of one caller mustn't read by it for the next.
    if (this.#isOver) throw new TypeError('The call is over.');
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
