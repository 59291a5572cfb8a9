import { numberOf } from '../../shared/exact-json.ts';

type Headers = Readonly<Record<string, string>>;

/** Returns headers that ask for other types, without `If-None-Match`, whose tag would name another answer. */
export function acceptingInstead(headers: Headers, accept: string): Headers {
  const { 'if-none-match': _, ...rest } = headers;
  return { ...rest, accept };
}

/** Takes the types of answers in parts out of an `Accept` header. */
export function withoutMultipart(accepts: string): string {
  const otherRanges = accepts.split(',').filter((range) => !/^ *multipart\/mixed *(;|$)/i.test(range));
  return otherRanges.join(',').trim() || 'application/json';
}

/** Types that are JSON's to answer, by name or as part of a range. */
const JSON_TYPES = /^(application\/(json|graphql-response\+json|\*)|\*\/\*)$/;

/**
 * Returns the format that an `Accept` header likes best; null if it has none, or likes JSON no less.
 * @param formatOf returns the format of a type, in lower case, with its parameters; null if it is none
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

/** True if a client may take JSON, so that an answer is worth while. Apollo finds out which types exactly it takes. */
export function mayAccept(accepts: string): boolean {
  return accepts === '' || takes(accepts, /json|\/\*/i);
}

/** True if a client knows `application/graphql-response+json`, as its `Accept` header shows. */
export function isModern(accepts: string): boolean {
  return takes(accepts, /^ *application\/graphql-response\+json *(;|$)/i);
}

/** Returns the `Content-Type` of an answer to a request of which nothing ran. */
export function refusalTypeFor(accepts: string): string {
  return `application/${isModern(accepts) ? 'graphql-response+json' : 'json'}; charset=utf-8`;
}

/** True if an `Accept` header has a range of types that fits, and doesn't rule it out by a weight of 0. */
function takes(accepts: string, type: RegExp): boolean {
  return accepts.split(',').some((range) => type.test(range) && !RULED_OUT.test(range));
}

/** The pattern of a range that its weight of 0 rules out. */
export const RULED_OUT = /; *q *= *0(\.0*)? *(;|$)/i;
