import type { Call } from './call.ts';

/** Characters of the service's words that are looked at. */
const MAX_WORDS = 2_000;

/** Kinds of things that any route may be said to have none of. */
const THINGS = [
  'country',
  'metric',
  'indicator',
  'measure',
  'observation',
  'figure',
  'series',
  'row',
  'record',
];

/** Words of routes and parameters that name no thing that is asked for. */
const BARE = new Set(['v1', 'api', 'platform', 'status', 'code', 'key', 'limit', 'latest', 'q']);

/** Words that are about the route and not about its arguments. */
const OF_ROUTE = /\b(routes?|endpoints?|pages?|paths?|urls?)\b/i;

/**
 * Tells if a 404 says that the thing that a call asked for is missing: by its name (`country not found: xx`), or by its
 * kind (`no observations found`). Any other may come from a proxy, or mean that there is no such route.
 */
export function namesAsked({ route, target }: Pick<Call, 'route' | 'target'>, body: unknown): boolean {
  const { detail } = (body ?? {}) as { readonly detail?: unknown };
  if (typeof detail !== 'string' || detail === '') return false;
  // Words with a slash in them repeat the address.
  const said = detail.slice(0, MAX_WORDS).replace(/\S*\/\S*/g, ' ');
  const [path = '', search = ''] = target.split('?');
  const query = [...new URLSearchParams(search)];
  const values = [...valuesIn(route, path), ...query.flatMap(([, value]) => value.split(','))];
  if (namesValue(said, values)) return true;
  if (OF_ROUTE.test(said)) return false;
  const kinds = new Set(THINGS);
  for (const word of `${route} ${query.map(([name]) => name).join(' ')}`.toLowerCase().split(/[^a-z]+/)) {
    const kind = singular(word);
    if (word.length > 2 && !BARE.has(kind)) kinds.add(kind);
  }
  return wordsIn(said).some((word) => kinds.has(singular(word)));
}

/** Returns the values in the places of a route's template. */
function valuesIn(route: string, path: string): string[] {
  const steps = path.split('/');
  return route
    .split('/')
    .flatMap((step, i) => (step.startsWith('{') ? decodeURIComponent(steps[i] ?? '') : []));
}

/** Tells if one of the values stands in the text as a word; one of two letters, which may be any word, as a code would. */
function namesValue(said: string, values: readonly string[]): boolean {
  const words = new Set(wordsIn(said));
  const pointed = new Set(
    [...said.matchAll(/[:="'`([]\s*([\w.-]+)/g)].map(([, word = '']) => word.toLowerCase()),
  );
  const isCode = (value: string) => new RegExp(`\\b${value.toUpperCase()}\\b`).test(said);
  return values.some((value) => {
    const folded = value.toLowerCase();
    if (folded.length > 2) return words.has(folded);
    return /^[a-z]{2}$/.test(folded) && (pointed.has(folded) || isCode(folded));
  });
}

function wordsIn(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\w.-]+/)
    .map((word) => word.replace(/^[.-]+|[.-]+$/g, ''));
}

function singular(word: string): string {
  if (word === 'series') return word;
  return word.replace(/ies$/, 'y').replace(/s$/, '');
}
