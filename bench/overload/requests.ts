import { randomBytes } from 'node:crypto';
import { getIntrospectionQuery } from 'graphql';
import { keys } from '../../src/sandbox/access.ts';
import { indicators } from '../../src/sandbox/catalogue/indicators.ts';

/** Kinds of requests. No two requests of a kind are equal, except for introspection. */
export type Kind = keyof typeof KINDS;

interface Request {
  readonly body: string;
  /** Lines, each with its CRLF. */
  readonly headers: string;
}

/** Enough figures to make the page an expensive operation. */
const METRICS = indicators.slice(0, 24).map(({ key }) => key);

/** An age that no figure reaches, different each time: so that no cached response is sent. */
let lastMaxAge = 100_000;
function maxAge(): number {
  lastMaxAge += 1;
  return lastMaxAge;
}

const ofTeam = (query: string, variables?: object, more = ''): Request => ({
  body: JSON.stringify({ query, ...(variables === undefined ? {} : { variables }) }),
  headers: `authorization: Bearer ${keys.team}\r\n${more}`,
});

const ALL = 'query All($maxAge: Int) { observations(latest: true, maxAge: $maxAge) { value } }';
const SMALL =
  'query Small($maxAge: Int) { country(code: "KE") { name observation(metricKey: "population_total", maxAge: $maxAge) { value year } } }';
const PAGE = `query Page($maxAge: Int) { countries { name ${METRICS.map(
  (key, i) => `m${i}: observation(metricKey: "${key}", maxAge: $maxAge) { value year unit }`,
).join(' ')} } }`;
const INTROSPECTION = getIntrospectionQuery();

const word = () => `w${randomBytes(8).toString('hex')}`;

const KINDS = {
  /** All latest figures, all of them cached. */
  all: () => ofTeam(ALL, { maxAge: maxAge() }),
  explain: () => ofTeam(ALL, { maxAge: maxAge() }, 'x-explain: 1\r\n'),
  introspection: () => ofTeam(INTROSPECTION),
  /** One figure. */
  small: () => ofTeam(SMALL, { maxAge: maxAge() }),
  /** A dashboard: two dozen figures of all countries. */
  page: () => ofTeam(PAGE, { maxAge: maxAge() }),
  /** Each with a new document and a new key. */
  flood: () => ({
    body: JSON.stringify({
      query: `query ${word()} { ${word()}: country(code: "KE") { ${word()}: observation(metricKey: "${word()}") { value } } }`,
    }),
    headers: `authorization: Bearer ${word()}\r\n`,
  }),
} satisfies Record<string, () => Request>;

export function isKind(word: string): word is Kind {
  return word in KINDS;
}

export function requestOf(kind: Kind): Request {
  return KINDS[kind]();
}
