import { numberOf } from '../exact-json.ts';
import { TABLE_FORMATS, type TableFormat } from './table-writers.ts';

/** Matches a header that has the name of a format at all: nothing else is looked at more closely. */
const MAY_ASK = /text\/csv|application\/x-ndjson|application\/vnd\.apache\.arrow\.stream/i;

/** Types that are JSON's to answer, by name or as part of a range. */
const JSON_TYPES = /^(application\/(json|graphql-response\+json|\*)|\*\/\*)$/;

/** Returns the format of tables that a client asks for; null if it asks for none, or likes JSON no less. */
export function tableFormatFor(accepts: string | undefined): TableFormat | null {
  if (accepts === undefined || !MAY_ASK.test(accepts)) return null;
  let best: { readonly weight: number; readonly format: TableFormat | null } = { weight: 0, format: null };
  for (const range of accepts.split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const format = formatOf(parameters.includes(MARKED) ? `${name}; ${MARKED}` : name) ?? formatOf(name);
    const weight = weightIn(parameters);
    if (weight > best.weight && (format !== null || JSON_TYPES.test(name))) best = { weight, format };
  }
  return best.format;
}

/** The parameter of a format of texts that begin with a byte order mark. */
const MARKED = 'bom=present';

function formatOf(name: string): TableFormat | null {
  return Object.hasOwn(TABLE_FORMATS, name) ? (TABLE_FORMATS[name] ?? null) : null;
}

function weightIn(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  const weight = given === undefined ? 1 : (numberOf(given) ?? 0);
  return weight >= 0 && weight <= 1 ? weight : 0;
}
