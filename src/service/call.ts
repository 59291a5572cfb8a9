/**
 * A request to the metered service as a value. It is planned, priced, compared, shared and refused in this form,
 * and only `http.ts` ever sends one.
 */
import type { Failure } from '../shared/errors.ts';
import type { Tag } from './rights.ts';
import type { Sending } from './sending.ts';

/** One route of the service. `Params` are the parameters that it takes, `Result` its answer in our own words. */
export interface Endpoint<Params = never, Result = unknown> {
  /** The route's template, such as `/v1/countries/{code}/profile`: its name in bills, errors and metrics. */
  readonly route: string;
  /** Base address of another service that the route is of, without a trailing slash. No key is ever sent there. */
  readonly origin?: string;
  /** True if the route is asked without the caller's key. */
  readonly isPublic: boolean;
  /** The part of the graph that its answers are of: whoever may not read that gets none, fetched or cached. */
  readonly tag: Tag | 'base';
  /** Makes the path and query parameters of a call; a parameter that is undefined is not sent. */
  readonly params: (params: Params) => CallParams;
  /** Decodes a body; only records with `isDated` tell when it was sent; throws Failure UPSTREAM_INVALID_RESPONSE. */
  readonly decode: (body: unknown, params: Params, receivedAt: number) => Result;
  /** True if a service may lack the route, since no path is specified for it; see `absentRoutes`. */
  readonly isOptional?: true;
  /** True if the records tell when they came. */
  readonly isDated?: true;
  /** The way in which an answer may be served again: never, for the usual time, or as the service's headers say. */
  readonly caching: 'none' | 'ttl' | 'http';
  /**
   * Returns the content that pricing assumes of an answer while it is not known: a list of its documented size, or one
   * of each thing that further calls may hang from. Nothing if it is left out.
   * @param target that of the call
   * @param metricKey an indicator of the catalogue, as far as that is known
   */
  readonly assumed?: (target: string, metricKey: string, yearsOf: YearsOf) => unknown;
}

/** Returns the years of a pair of which pricing assumes figures; null if any year will do. */
export type YearsOf = (countryCode: string, metricKey: string) => readonly number[] | null;

interface CallParams {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
}

export interface Call {
  readonly route: string;
  readonly isPublic: boolean;
  /**
   * Path and query string, parameters in a fixed order: calls of the same target ask for the same thing. Of another
   * service, the whole address.
   */
  readonly target: string;
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
  return { route, isPublic: endpoint.isPublic || origin !== '', target };
}

/** Characters that stand for themselves in a query. */
const PLAIN = /^[\w,.-]*$/;

/** Encodes a list. Commas separate its codes, and may stand in a query as they are. */
function encodeList(value: string): string {
  return PLAIN.test(value) ? value : encodeURIComponent(value).replaceAll('%2C', ',');
}

/** The answer of the service, undecoded, and its time. */
export interface Answer {
  /** 200, 304 or 404; every other status is a Failure. */
  readonly status: 200 | 304 | 404;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON; undefined for a 304. For a 404 `{detail}`, or undefined if the service didn't word it itself. */
  readonly body: unknown;
  /** The reason why a 404 is no word on what the service holds: it doesn't name what was asked for. */
  readonly stray?: Failure;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** One stage of the way to the service, or all of them. */
export type Send = (call: Call, sending: Sending) => Promise<Answer>;
