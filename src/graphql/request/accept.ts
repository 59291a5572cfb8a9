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
