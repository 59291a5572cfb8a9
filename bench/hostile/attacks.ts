import type { GatewayRequest } from '../../src/graphql/request/requests.ts';

/** An attack by a client without a valid key. */
export interface Attack {
  readonly name: string;
  /** The bodies, which are sent one after the other. */
  readonly bodies: () => Iterable<Body>;
  readonly headers?: Readonly<Record<string, string>>;
  /** True if each body has a different key. */
  readonly hasManyKeys?: boolean;
}

export type Body = Readonly<Record<string, unknown>>;

const EXPLAIN = { 'x-explain': '1' };

function once(query: string, variables: Body = {}): () => Iterable<Body> {
  return () => [{ query, variables }];
}

function names(count: number, prefix: string): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}${i}`);
}

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
/** Everything that looks like a country code. */
const CODES = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));

/** Fragments each of which spreads the next one twice: 2^levels paths through a few hundred bytes. */
function fragmentBomb(levels: number): string {
  const fragments = Array.from(
    { length: levels },
    (_, i) => `fragment f${i} on Country{...f${i + 1} ...f${i + 1}}`,
  );
  return `{country(code:"KE"){...f0}}${fragments.join('')}fragment f${levels} on Country{code}`;
}

/** Fragments that nest so many fields on each of some levels: fields^levels of them when written out. */
function fieldBomb(fields: number, levels: number): string {
  const fragment = (level: number) => {
    const below = level === levels ? 'code' : `...f${level + 1}`;
    const all = names(fields, 'a').map((alias) => `${alias}:signals{country{${below}}}`);
    return `fragment f${level} on Country{${all.join(' ')}}`;
  };
  const fragments = names(levels, '').map((_, i) => fragment(i + 1));
  return `{country(code:"KE"){...f1}}${fragments.join('')}`;
}

/** Listings of countries of listings: lists that multiply with each level. */
function listBomb(levels: number): string {
  return `{countries{${'tickers{country{'.repeat(levels)}code${'}}'.repeat(levels)}}}`;
}

const TABLE =
  'query($c:[CountryCode!],$m:[String!]){observations(countryCodes:$c,metricKeys:$m,latest:true){value}}';

function table(metrics: number): () => Iterable<Body> {
  return once(TABLE, { c: CODES, m: names(metrics, 'm') });
}

const TABLES = `query($c:[CountryCode!]){${names(50, 'a')
  .map((a, i) => `${a}:observations(countryCodes:$c,metricKeys:["m${i}"],latest:true){value}`)
  .join(' ')}}`;

/** A valid document of 24 KB, nearly all of it operations that are not executed. */
function long(name: string): Body {
  const unused = names(600, '').map((_, i) => `query a_name_of_its_own_${i}{quota{plan}}`);
  return { query: `query ${name}{quota{plan}} ${unused.join('')}`, operationName: name };
}

function small(name: string): Body {
  return { query: `query ${name}{quota{plan}}` };
}

const thrice = (bodies: readonly Body[]) => bodies.flatMap((body) => [body, body, body]);

const BRANCHES = ['profile', 'signals', 'offices', 'tickers'];

/** Selections of 2,700 different objects, without aliases. */
function branching(): string {
  const below = (depth: number): string =>
    depth === 0
      ? 'code'
      : `code ${BRANCHES.map((field) => `${field}{country{${below(depth - 1)}}}`).join(' ')}`;
  return `{country(code:"KE"){${below(5)}}}`;
}

const ALL_SERIES = '{observations{year}}';
const ALL_BELOW = '{countries{observations(fromYear:1950){id value}}}';
const ALL_BY_FRAGMENT =
  '{a:countries{...F} b:countries{...F}} fragment F on Country{c:observations{id} d:observations(toYear:2000,latest:true){id}}';
const BELOW_INDICATORS = '{indicators{key observations(fromYear:1950){id value}}}';
const ALL_LATEST = '{observations(latest:true){value}}';

/** The introspection that tools send, under many aliases. */
const introspections = (count: number, first = '') =>
  `{${first} ${names(count, 'a')
    .map(
      (a) =>
        `${a}:__schema{types{name description fields{name description args{name type{...T}} type{...T}}}}`,
    )
    .join(' ')}} fragment T on __Type{kind name ofType{kind name ofType{kind name}}}`;
const TEXTS = `{__schema{types{fields{${names(200, 'a')
  .map((a) => `${a}:description`)
  .join(' ')}}}}}`;

export const ATTACKS: readonly Attack[] = [
  { name: 'fragment bomb, 2^24 paths', bodies: once(fragmentBomb(24)) },
  { name: 'fragment bomb, 2^40 paths', bodies: once(fragmentBomb(40)) },
  { name: 'fragment bomb, explained', bodies: once(fragmentBomb(40)), headers: EXPLAIN },
  { name: 'fragment bomb, 1,200 levels', bodies: once(fragmentBomb(1_200)) },
  { name: 'fields by fragments, 30^5', bodies: once(fieldBomb(30, 5)) },
  { name: 'fields by fragments, explained', bodies: once(fieldBomb(30, 5)), headers: EXPLAIN },
  { name: 'lists in lists', bodies: once(listBomb(4)) },
  { name: 'lists in lists, explained', bodies: once(listBomb(4)), headers: EXPLAIN },
  {
    name: 'lists in lists beside introspection',
    bodies: once(`{__schema{queryType{name}} ${listBomb(4).slice(1)}`),
  },
  { name: 'the schema 100 times', bodies: once(introspections(100)) },
  {
    name: 'the schema 99 times, and a condition that is null',
    bodies: once(`query($c:Boolean=true)${introspections(99, 'x:__typename @include(if:$c)')}`, { c: null }),
  },
  { name: 'texts of the schema 200 times', bodies: once(TEXTS) },
  {
    name: 'lists of the schema in lists',
    bodies: once(`{${names(40, 'a').map((a) => `${a}:__schema{types{fields{type{fields{name}}}}}`)}}`),
  },
  { name: '676 × 5,000 names', bodies: table(5_000) },
  { name: '676 × 5,000 names, explained', bodies: table(5_000), headers: EXPLAIN },
  { name: '676 × 1,000 names', bodies: table(1_000) },
  { name: '676 × 1,000 names, explained', bodies: table(1_000), headers: EXPLAIN },
  { name: 'tables under 50 aliases', bodies: once(TABLES, { c: CODES }) },
  { name: 'every series there is', bodies: once(ALL_SERIES) },
  { name: 'every series there is, explained', bodies: once(ALL_SERIES), headers: EXPLAIN },
  { name: 'every series below countries', bodies: once(ALL_BELOW) },
  { name: 'every series below countries, explained', bodies: once(ALL_BELOW), headers: EXPLAIN },
  { name: 'every series by fragments', bodies: once(ALL_BY_FRAGMENT) },
  { name: 'every series below indicators', bodies: once(BELOW_INDICATORS) },
  { name: 'every series below indicators, explained', bodies: once(BELOW_INDICATORS), headers: EXPLAIN },
  { name: 'every latest figure', bodies: once(ALL_LATEST) },
  { name: 'every latest figure, explained', bodies: once(ALL_LATEST), headers: EXPLAIN },
  {
    name: '30,000 nodes',
    bodies: once('query($i:[ID!]!){nodes(ids:$i){id}}', {
      i: names(30_000, 'm').map((m) => Buffer.from(JSON.stringify(['Indicator', m])).toString('base64url')),
    }),
  },
  {
    name: '20,000 representations',
    bodies: once('query($r:[_Any!]!){_entities(representations:$r){...on Indicator{name}}}', {
      r: names(20_000, 'm').map((key) => ({ __typename: 'Indicator', key })),
    }),
  },
  { name: 'selections of 2,700 objects', bodies: once(branching()) },
  { name: 'one field 14,000 times', bodies: once(`{quota{${'plan '.repeat(14_000)}}}`) },
  { name: '159 long documents', bodies: () => names(159, 'q').map(long) },
  { name: '60 long documents, each three times', bodies: () => thrice(names(60, 'q').map(long)) },
  { name: '6,000 small documents', bodies: () => names(6_000, 'q').map(small) },
  { name: '6,000 small documents, each three times', bodies: () => thrice(names(6_000, 'q').map(small)) },
  {
    name: '4,000 keys',
    bodies: () =>
      names(4_000, 'k').map(() => ({ query: '{country(code:"KE"){observation(metricKey:"a"){value}}}' })),
    hasManyKeys: true,
  },
];

/** The requests of an attack. Each has a key that the service never issued. */
export function* requestsOf({
  bodies,
  headers = {},
  hasManyKeys = false,
}: Attack): Generator<GatewayRequest> {
  let sent = 0;
  for (const body of bodies()) {
    sent += 1;
    const authorization = `Bearer made-up-${hasManyKeys ? sent : 'key'}`;
    yield requestOf(body, { authorization, ...headers });
  }
}

export function requestOf(body: Body, headers: Readonly<Record<string, string>>): GatewayRequest {
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/graphql-response+json',
      ...headers,
    },
    search: '',
    body,
    signal: new AbortController().signal,
  };
}
