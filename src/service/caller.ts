import type { Tenant } from '../keys/tenant.ts';
import type { Job } from '../shared/async/turns.ts';
import type { Failure } from '../shared/errors.ts';
import type { CallBudget } from './call-budget.ts';
import type { Rights } from './rights.ts';

/** One request of a tenant, on whose behalf calls are made. */
export interface Caller extends Job {
  /** The `Authorization` header as received; null if there was none. Sent to the service and nowhere else. */
  readonly authorization: string | null;
  readonly tenant: Tenant;
  /** The budget for its calls, if it isn't the key's own. */
  readonly budget?: CallBudget | undefined;
  /** Which of the visitors it is that share a key; absent if the key belongs to one caller. */
  readonly visitor?: Visitor | undefined;
  /** Called with each operation of the request when it is over. */
  readonly note?: ((operation: NotedOperation) => void) | undefined;
  /** Returns the failure of a document that the key may not run; absent if it may run any. */
  readonly refusalOf?: ((text: string) => Failure | null) | undefined;
  /** The parts of the graph that the key may read; absent if it may read all. */
  readonly rights?: Rights | undefined;
  /** Set if no call may be made on its behalf: cached data answers, however old, and this words the failure of the rest. */
  readonly offline?: Uncached | undefined;
}

/** Figures asked for: the latest of a country and metric, or a series, of all years if `years` is null. */
interface WantedFigures {
  readonly countryCode: string;
  readonly metricKey: string;
  readonly mode: 'latest' | 'series';
  readonly years: { readonly from: number | null; readonly to: number | null } | null;
}

/** Words the failure of what isn't cached, for callers on whose behalf no call may be made. */
export interface Uncached {
  ofCall(call: { readonly route: string; readonly target: string }): Failure;
  /** @param figures missing figures of one operation */
  ofFigures(figures: readonly WantedFigures[]): Failure;
}

/** One of several visitors that share a key. */
export interface Visitor {
  readonly name: string;
  /** Operations it may run in a minute; null for any number. */
  readonly perMinute: number | null;
}

/** What is reported of an operation that is over. */
export interface NotedOperation {
  readonly name: string | null;
  readonly calls: number;
  readonly shared: number;
  readonly cached: number;
  readonly errorCodes: readonly string[];
  /** Set for the calls so far of an operation that goes on. */
  readonly isPart?: true;
}
