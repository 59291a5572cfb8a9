import { numberOf } from '../../shared/exact-json.ts';

type Headers = Readonly<Record<string, string>>;

/** Without `If-None-Match`, whose tag would name another answer. */
export function acceptingInstead(headers: Headers, accept: string): Headers {
  const { 'if-none-match': _, ...rest } = headers;
  return { ...rest, accept };
}

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

/** True if an answer may be of use. Apollo decides on the exact types. */
export function mayAccept(accepts: string): boolean {
  return accepts === '' || takes(accepts, /json|\/\*/i);
}

/** True if a client knows `application/graphql-response+json`, as its `Accept` header shows. */
export function isModern(accepts: string): boolean {
  return takes(accepts, /^ *application\/graphql-response\+json *(;|$)/i);
}

/** For requests of which nothing ran. */
export function refusalTypeFor(accepts: string): string {
  return `application/${isModern(accepts) ? 'graphql-response+json' : 'json'}; charset=utf-8`;
}

function takes(accepts: string, type: RegExp): boolean {
  return accepts.split(',').some((range) => type.test(range) && !RULED_OUT.test(range));
}

export const RULED_OUT = /; *q *= *0(\.0*)? *(;|$)/i;
