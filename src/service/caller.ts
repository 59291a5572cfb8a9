import type { Tenant } from '../keys/tenant.ts';
import type { Job } from '../shared/async/turns.ts';
import type { Failure } from '../shared/errors.ts';
import type { CallBudget } from './call-budget.ts';
import type { Rights } from './rights.ts';

/** One request of a tenant: calls are made on its behalf. */
export interface Caller extends Job {
  /** The `Authorization` header as it came; null if there was none. Goes to the service and nowhere else. */
  readonly authorization: string | null;
  /** The holder of the key. */
  readonly tenant: Tenant;
  /** The budget that its calls are taken out of, if it is not the key's own. */
  readonly budget?: CallBudget | undefined;
  /** The one of many visitors that it is, whom its key gives a share of all; left out if the key is one caller's. */
  readonly visitor?: Visitor | undefined;
  /** Called with each operation of the request once it is over, if somebody counts. */
  readonly note?: ((operation: NotedOperation) => void) | undefined;
  /** Returns the failure of a document that its key may not read; left out if it may read any. */
  readonly refusalOf?: ((text: string) => Failure | null) | undefined;
  /** The parts of the graph that its key may read; left out if it may read all. */
  readonly rights?: Rights | undefined;
  /** Set if nothing is asked on its behalf: what is cached answers, however old, and the rest fails as this words it. */
  readonly offline?: Uncached | undefined;
}

/** Figures that somebody asks for: the latest of a country and metric, or a series, of all years if none are named. */
interface WantedFigures {
  readonly countryCode: string;
  readonly metricKey: string;
  readonly mode: 'latest' | 'series';
  readonly years: { readonly from: number | null; readonly to: number | null } | null;
}

/** Words the failure of what isn't cached, for callers on whose behalf nothing is asked. */
export interface Uncached {
  ofCall(call: { readonly route: string; readonly target: string }): Failure;
  /** @param figures of one operation that are missing together */
  ofFigures(figures: readonly WantedFigures[]): Failure;
}

/** One of those who share a key. */
export interface Visitor {
  readonly name: string;
  /** Operations that it may ask for in a minute; null for any number. */
  readonly perMinute: number | null;
}

/** The part of an operation that is over which those who count are told. */
export interface NotedOperation {
  readonly name: string | null;
  readonly calls: number;
  readonly shared: number;
  readonly cached: number;
  readonly errorCodes: readonly string[];
  /** Set for calls of an operation that goes on. */
  readonly isPart?: true;
}
