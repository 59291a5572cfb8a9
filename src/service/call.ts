/**
 * A request to the metered service as a value. In this form it is planned, priced, compared, shared and refused;
 * only `http.ts` sends one.
 */
import type { Failure } from '../shared/errors.ts';
import type { Tag } from './rights.ts';
import type { Sending } from './sending.ts';

/** One route of the service. `Params` are its parameters, `Result` is its decoded answer. */
export interface Endpoint<Params = never, Result = unknown> {
  /** The route's template, such as `/v1/countries/{code}/profile`: its name in bills, errors and metrics. */
  readonly route: string;
  /** Base address, without a trailing slash, if the route belongs to another service. No key is ever sent there. */
  readonly origin?: string;
  /** True if the caller's key is not sent. */
  readonly isPublic?: boolean;
  /** The part of the graph that its answers belong to: callers without the right to it get none, fetched or cached. */
  readonly tag: Tag | 'base';
  /** Makes the path and query parameters of a call; undefined ones are not sent. */
  readonly params: (params: Params) => CallParams;
  /** Rows that an answer can have: one with more is refused. Without it, any answer's bound holds. */
  readonly mostRows?: (params: Params) => number;
  /** Decodes a body; throws Failure UPSTREAM_INVALID_RESPONSE. `receivedAt` is used only if `isDated`. */
  readonly decode: (body: unknown, params: Params, receivedAt: number) => Result;
  /** True if a service may lack the route; see `src/plugins/extra-routes/absent-routes.ts`. */
  readonly isOptional?: true;
  /** True if the records say when they were received. */
  readonly isDated?: true;
  /** Whether an answer may be served again: never, for the usual time, or as the service's headers say. */
  readonly caching: 'none' | 'ttl' | 'http';
  /**
   * Returns the answer that pricing assumes before there is one: a list of its documented size, or one of each thing
   * that further calls may depend on. Without it, pricing assumes an empty answer.
   * @param metricKey an indicator of the catalogue, if that is known
   */
  readonly assumed?: (target: string, metricKey: string, yearsOf: YearsOf) => unknown;
}

/** Returns the years for which pricing assumes figures of a pair; null if any year will do. */
export type YearsOf = (countryCode: string, metricKey: string) => readonly number[] | null;

interface CallParams {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
}

export interface Call {
  readonly route: string;
  readonly isPublic: boolean;
  /**
   * Path and query string, with parameters in a fixed order: calls with the same target ask for the same thing. For
   * another service, the whole URL.
   */
  readonly target: string;
  /** Rows that its answer can have; follows from the target. */
  readonly mostRows?: number | undefined;
  /** Further request headers, such as `if-none-match`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** True if a call is for another service than the metered one. */
export const isElsewhere = ({ target }: Call): boolean => !target.startsWith('/');

export function makeCall<Params>(endpoint: Endpoint<Params, unknown>, params: Params): Call {
  const { path = {}, query = {} } = endpoint.params(params);
  const { route, origin = '' } = endpoint;
  const pathname =
    origin + route.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ''));
  let target = pathname;
  for (const name of Object.keys(query).sort()) {
    const value = query[name];
    if (value !== undefined) target += `${target === pathname ? '?' : '&'}${name}=${encodeList(value)}`;
  }
  const isPublic = endpoint.isPublic === true || origin !== '';
  return { route, isPublic, target, mostRows: endpoint.mostRows?.(params) };
}

/** Characters that stand for themselves in a query. */
const PLAIN = /^[\w,.-]*$/;

/** Encodes a list, whose commas may stay as they are in a query. */
function encodeList(value: string): string {
  return PLAIN.test(value) ? value : encodeURIComponent(value).replaceAll('%2C', ',');
}

/** An answer of the service, not decoded yet. */
export interface Answer {
  /** 200, 304 or 404; every other status is a Failure. */
  readonly status: 200 | 304 | 404;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON; undefined for a 304. For a 404 `{detail}`, or undefined if the service didn't word it itself. */
  readonly body: unknown;
  /** Set if a 404 doesn't name what was asked for, and so doesn't mean that the service lacks it. */
  readonly stray?: Failure;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** One stage of the way to the service, or all of them. */
export type Send = (call: Call, sending: Sending) => Promise<Answer>;
