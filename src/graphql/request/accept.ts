import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { numberOf } from '../../shared/exact-json.ts';

type Headers = Readonly<Record<string, string>>;

/** Without `If-None-Match`, whose tag would name another answer. */
export function acceptingInstead(headers: Headers, accept: string): Headers {
  const { 'if-none-match': _, ...rest } = headers;
  return { ...rest, accept };
}

/** Removes types of answers in parts from an `Accept` header. */
export function withoutMultipart(accepts: string): string {
  const otherRanges = accepts.split(',').filter((range) => !/^ *multipart\/mixed *(;|$)/i.test(range));
  return otherRanges.join(',').trim() || 'application/json';
}

const JSON_TYPES = /^(application\/(json|graphql-response\+json|\*)|\*\/\*)$/;

/**
 * Null if the header names no format, or likes JSON no less.
 * @param formatOf takes a type in lower case, with its parameters; null if it is no format
 */
export function formatLiked<Format>(
  accepts: string,
  formatOf: (type: string, parameters: readonly string[]) => Format | null,
): Format | null {
  let best: { readonly weight: number; readonly format: Format | null } = { weight: 0, format: null };
  for (const range of accepts.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const format = formatOf(type, parameters);
    const weight = weightIn(parameters);
    if (weight > best.weight && (format !== null || JSON_TYPES.test(type))) best = { weight, format };
  }
  return best.format;
}

function weightIn(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  const weight = given === undefined ? 1 : (numberOf(given) ?? 0);
  return weight >= 0 && weight <= 1 ? weight : 0;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const GRAPHQL_TYPE = 'application/graphql-response+json; charset=utf-8';

/** `Accept` headers whose type is cached: one of 1,000 characters takes a while to weigh. */
const chosen = new LRUCache<string, { readonly type: string | null }>({ max: 100 });
const MAX_ACCEPT_CHARACTERS = 300;

/** The `Content-Type` of an answer that is no table; null if the client takes none. By the same rule as Apollo Server. */
export function contentTypeFor(accepts: string): string | null {
  if (accepts === '') return JSON_TYPE;
  const known = chosen.get(accepts);
  if (known !== undefined) return known.type;
  const type = new Negotiator({ headers: { accept: accepts } }).mediaType([JSON_TYPE, GRAPHQL_TYPE]) ?? null;
  if (accepts.length <= MAX_ACCEPT_CHARACTERS) chosen.set(accepts, { type });
  return type;
}

/** True if statuses tell how an operation went, which clients of `application/json` take for failures of the network. */
export function isModern(accepts: string): boolean {
  return contentTypeFor(accepts) === GRAPHQL_TYPE;
}

/** For requests of which nothing ran, whatever the client takes. */
export function refusalTypeFor(accepts: string): string {
  return contentTypeFor(accepts) ?? JSON_TYPE;
}

export const RULED_OUT = /; *q *= *0(\.0*)? *(;|$)/i;
