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
