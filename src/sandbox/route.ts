import { type Country, countryByCode } from './catalogue/countries.ts';
import { type Extras, type Query, Refused } from './query.ts';

/** Decisions about points that the specification leaves open. */
export interface Habits {
  readonly extras: Extras;
  readonly unknown: 'empty' | 'refuse';
  readonly government: 'offices' | 'terms';
  readonly maxRows: number;
  readonly defaultRows: number;
  /** Sources that have run since the sandbox started, and when: the end of their last good run, as the service writes it. */
  readonly runs: ReadonlyMap<string, string>;
}

/** An answer before it is wrapped; `meta` if the route has one. */
export interface Answer {
  readonly data: unknown;
  readonly meta?: Record<string, number>;
}

export interface Route {
  readonly template: string;
  readonly isPublic?: true;
  /** Answers with an ETag, and with 304 to a caller who has it. */
  readonly cacheable?: true;
  /** Sent as it stands, under no envelope. */
  readonly plain?: true;
  readonly parameters?: readonly string[];
  /** Parameters that the specification doesn't name and the live service knows. */
  readonly undocumented?: readonly string[];
  answer(query: Query, habits: Habits, code: string): Answer;
}

/** @throws Refused 404 if there is no such country */
export function countryOf(code: string): Country {
  const country = countryByCode.get(code.toLowerCase());
  if (!country) throw new Refused(404, `country not found: ${code.toLowerCase()}`);
  return country;
}

/** The route that a path names, and the country code in it. */
export function routeOf(routes: readonly Route[], path: string): { route: Route; code: string } | null {
  for (const route of routes) {
    const [before = '', after] = route.template.split('{code}');
    if (after === undefined) {
      if (path === before) return { route, code: '' };
      continue;
    }
    const code = path.slice(before.length, path.length - after.length);
    if (path.startsWith(before) && path.endsWith(after) && code !== '' && !code.includes('/'))
      return { route, code };
  }
  return null;
}
