import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { latestRows } from './choices.ts';
import { createDice } from './dice.ts';
import type { Habits, Refusal, Taking } from './habits.ts';
import { isUnreadable, marked, textOf } from './odd-numbers.ts';
import { encoded, failed, saidWell } from './wire.ts';
import type { IndicatorFact, Json, RowFact, World } from './world.ts';

export interface Request {
  readonly key: string | null;
  readonly target: string;
  readonly route: string;
  readonly status: number;
  readonly rows: number | null;
  /** Flaw of the answer, for which an error about it is right. */
  readonly flaw: Flaw | null;
}

/** Rows or a record that nobody asked for, a failure told by 200 or by what is no JSON, or an absence told by no words. */
export type Flaw = 'stray' | 'failed' | 'unworded';

interface Reply {
  readonly status: number;
  readonly body: unknown;
  /** Number of rows that it brings, if any. */
  readonly rows?: number;
  readonly flaw?: Flaw;
}

/** The REST service, over loopback, with the habits that it is given. Each bearer key sees a world of its own. */
export async function openService(habits: Habits, worlds: ReadonlyMap<string, World>) {
  let log: Request[] = [];
  let resets: string[] = [];
  const asked = new Map<string, number>();
  const served = new WeakMap<object, number>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://service');
    const { route } = routeOf(url.pathname);
    const before = served.get(request.socket) ?? 0;
    served.set(request.socket, before + 1);
    if (habits.requestsAConnection > 0 && before >= habits.requestsAConnection) {
      resets.push(route);
      request.socket.resetAndDestroy();
      return;
    }
    const key = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? null;
    const target = decodeURIComponent(url.pathname + url.search);
    const time = (asked.get(`${key} ${target}`) ?? 0) + 1;
    asked.set(`${key} ${target}`, time);
    const reply = wellOrFailed(
      habits,
      replyTo({ habits, worlds, url, key }),
      route,
      `${key} ${target} ${time}`,
    );
    log.push({
      key,
      target,
      route,
      status: reply.status,
      rows: reply.rows ?? null,
      flaw: reply.flaw ?? null,
    });
    send(request, response, reply, habits, route);
  });
  // A connection that is closed just as it is used again is a habit of its own.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Requests since the last look. */
    takeLog(): Request[] {
      const seen = log;
      log = [];
      return seen;
    },
    /** Routes of requests that were reset since the last look. */
    takeResets(): string[] {
      const seen = resets;
      resets = [];
      return seen;
    },
    received: () => log.length,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

export type Service = Awaited<ReturnType<typeof openService>>;

/** Some calls fail each second time, or so it looks to who asks once. */
function wellOrFailed(habits: Habits, reply: Reply, route: string, name: string): Reply {
  const isPublic = route === '/health' || route === '/v1/platform/version';
  if (isPublic || reply.status !== 200) return reply;
  if (habits.failing !== 'never' && createDice('failing', name).chance(0.12)) {
    return { status: 200, body: failed(habits.failing), flaw: 'failed' };
  }
  return habits.saysWell ? { ...reply, body: saidWell(reply.body) } : reply;
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  habits: Habits,
  route: string,
): void {
  const body = textOf(reply.body);
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (habits.etags && route === '/v1/countries' && reply.status === 200) {
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 20)}"`;
    headers.etag = etag;
    headers['cache-control'] = 'private, max-age=300';
    if (request.headers['if-none-match'] === etag) {
      response.writeHead(304, headers).end();
      return;
    }
  }
  const asked = String(request.headers['accept-encoding'] ?? '');
  const { bytes, encoding } = encoded(body, habits, asked);
  if (encoding !== null) headers['content-encoding'] = encoding;
  response.writeHead(reply.status, headers).end(bytes);
}

const TEMPLATES: readonly [RegExp, string][] = [
  [/^\/health$/, '/health'],
  [/^\/v1\/platform\/version$/, '/v1/platform/version'],
  [/^\/v1\/platform\/etl-status$/, '/v1/platform/etl-status'],
  [/^\/v1\/countries$/, '/v1/countries'],
  [/^\/v1\/countries\/([^/]+)\/profile$/, '/v1/countries/{code}/profile'],
  [/^\/v1\/countries\/([^/]+)\/signals$/, '/v1/countries/{code}/signals'],
  [/^\/v1\/data$/, '/v1/data'],
  [/^\/v1\/indicators$/, '/v1/indicators'],
  [/^\/v1\/markets\/tickers$/, '/v1/markets/tickers'],
  [/^\/v1\/government\/structure\/([^/]+)$/, '/v1/government/structure/{code}'],
];

function routeOf(path: string): { route: string; code: string } {
  for (const [pattern, route] of TEMPLATES) {
    const match = pattern.exec(path);
    if (match !== null) return { route, code: (match[1] ?? '').toUpperCase() };
  }
  return { route: path, code: '' };
}

interface Asked {
  readonly habits: Habits;
  readonly worlds: ReadonlyMap<string, World>;
  readonly url: URL;
  readonly key: string | null;
}

function replyTo({ habits, worlds, url, key }: Asked): Reply {
  const { route, code } = routeOf(url.pathname);
  if (route === '/health') return { status: 200, body: { status: 'ok' } };
  if (route === '/v1/platform/version') return { status: 200, body: { version: '4.2.0' } };
  const world = key === null ? undefined : worlds.get(key);
  if (world === undefined) return { status: 401, body: { detail: 'Not authenticated' } };
  const one = <Fact extends { record: Json }>(facts: ReadonlyMap<string, Fact>, what: string) =>
    ofCountry(habits, facts, code, what);
  switch (route) {
    case '/v1/platform/etl-status':
      return list(habits, route, world.sources);
    case '/v1/countries':
      return list(habits, route, world.countries);
    case '/v1/indicators':
      return catalogue(habits, world, url.searchParams);
    case '/v1/countries/{code}/profile':
      return one(world.profiles, 'profile');
    case '/v1/countries/{code}/signals':
      return one(world.signals, 'signals');
    case '/v1/government/structure/{code}':
      return one(world.governments, 'country');
    case '/v1/markets/tickers':
      return tickers(habits, world, url.searchParams);
    case '/v1/data':
      return data(habits, world, url.searchParams);
    default:
      return { status: 404, body: { detail: 'Not Found' } };
  }
}

/** A record of a country; now and then that of another one. */
function ofCountry(
  habits: Habits,
  facts: ReadonlyMap<string, { readonly record: Json }>,
  code: string,
  what: string,
): Reply {
  const others = [...facts.keys()].filter((other) => other !== code);
  const isStray = habits.strayRecords && others.length > 0 && createDice('stray', what, code).chance(0.2);
  const record = facts.get(isStray ? (others[0] as string) : code)?.record;
  if (record === undefined) {
    if (habits.absence === 'unworded')
      return { status: 404, body: { detail: 'Not Found' }, flaw: 'unworded' };
    return { status: 404, body: { detail: `${what} not found: ${code.toLowerCase()}` } };
  }
  const body = habits.wrap === 'data' ? { data: record } : record;
  return { status: 200, body, ...(isStray ? { flaw: 'stray' } : {}) };
}

function wrapped(habits: Habits, rows: readonly Json[], meta: Json): Reply {
  const hasMeta = Object.keys(meta).length > 0;
  const body =
    habits.wrap === 'bare'
      ? rows
      : { [habits.wrap === 'data' ? 'data' : 'results']: rows, ...(hasMeta ? { meta } : {}) };
  return { status: 200, body, rows: rows.length };
}

/** The length at which a list is stopped that is told to be longer. */
export function listStop(length: number): number {
  return Math.max(1, Math.ceil(length * 0.7));
}

function list(habits: Habits, route: string, facts: readonly { record: Json }[]): Reply {
  const isCut = habits.cutList === route && habits.wrap !== 'bare';
  const sent = facts.slice(0, isCut ? listStop(facts.length) : facts.length).map(({ record }) => record);
  return wrapped(habits, sent, isCut || habits.listTotals ? { total: facts.length } : {});
}

/**
 * Answers with the catalogue. Its two filters are in the specification, so a service takes them; one that
 * does not tells the category and the data of each indicator.
 */
function catalogue(habits: Habits, world: World, query: URLSearchParams): Reply {
  const [category, hasData] = [query.get('category'), query.get('has_data')];
  const isOfCategory = (fact: IndicatorFact) => category === null || fact.category === category;
  const isOfData = (fact: IndicatorFact) => hasData === null || String(fact.hasData) === hasData;
  const isIgnored = (isSaid: boolean) => habits.catalogueFilters === 'ignored' && isSaid;
  const found = world.indicators.filter(
    (fact) =>
      (isIgnored(habits.catalogueCategory) || isOfCategory(fact)) &&
      (isIgnored(habits.catalogueHasData) || isOfData(fact)),
  );
  const isStray = !found.every((fact) => isOfCategory(fact) && isOfData(fact));
  return { ...list(habits, '/v1/indicators', found), ...(isStray ? { flaw: 'stray' } : {}) };
}

interface Limiting {
  readonly taking: Taking;
  readonly most: number;
  readonly byDefault: number | null;
}

/** Number of rows that may be sent, or a refusal. */
function limitOf(
  habits: Habits,
  query: URLSearchParams,
  { taking, most, byDefault }: Limiting,
): number | Reply {
  const text = query.get('limit');
  if (text === null || taking === 'ignored') return byDefault ?? Number.POSITIVE_INFINITY;
  if (taking === 'refused') return refusedParameter(habits, 'limit', 'Extra inputs are not permitted');
  const limit = Number(text);
  if (limit > most) {
    return refusedParameter(habits, 'limit', `Input should be less than or equal to ${most}`);
  }
  return limit;
}

function refusedParameter(habits: Habits, name: string, msg: string): Reply {
  const detail = habits.namesParameters
    ? [{ loc: ['query', name], msg, type: 'value_error' }]
    : 'Unprocessable';
  return { status: 422, body: { detail } };
}

function tickers(habits: Habits, world: World, query: URLSearchParams): Reply {
  const limit = limitOf(habits, query, {
    taking: habits.tickerLimit,
    most: 500,
    byDefault: habits.tickerDefault,
  });
  if (typeof limit !== 'number') return limit;
  const matches = (name: string, value: string | null) => {
    const wanted = habits.tickerFilters === 'taken' ? query.get(name) : null;
    return wanted === null || wanted.toLowerCase() === value?.toLowerCase();
  };
  const found = world.tickers.filter(
    (ticker) =>
      matches('exchange_code', ticker.exchangeCode) &&
      matches('country_code', ticker.country) &&
      matches('instrument_type', ticker.instrumentType),
  );
  const meta = habits.tickerTotal && habits.wrap !== 'bare' ? { total: found.length } : {};
  return wrapped(
    habits,
    found.slice(0, limit).map(({ record }) => record),
    meta,
  );
}

function data(habits: Habits, world: World, query: URLSearchParams): Reply {
  const years = yearsOf(habits, query);
  if ('status' in years) return years;
  const limit = limitOf(habits, query, {
    taking: habits.limit,
    most: habits.maxRows,
    byDefault: habits.defaultRows,
  });
  if (typeof limit !== 'number') return limit;
  const codes = listed(query, 'country_codes', 'country_code')?.map((code) => code.toUpperCase());
  const keys = listed(query, 'metric_keys', 'metric_key')?.map((key) => spelled(habits, world, key));
  const refusal =
    refusalOf(
      habits,
      codes,
      world.countries.map(({ code }) => code),
      'country',
    ) ??
    refusalOf(
      habits,
      keys,
      world.indicators.map(({ key }) => key),
      'metric',
    );
  if (refusal !== null) return refusal;
  const rowsOf = (names: Names) => {
    const [ofCodes, ofKeys] = [names.codes && new Set(names.codes), names.keys && new Set(names.keys)];
    const matching = world.rows.filter(
      (row) => (ofCodes?.has(row.country) ?? true) && (ofKeys?.has(row.metric) ?? true),
    );
    return query.get('latest') === 'true' ? latestOf(habits, matching, years) : within(matching, years);
  };
  const others = rowsOf(strayed(habits, world, { codes, keys }, query));
  // An answer without rows would be a lie that nobody can see through.
  const rows = others.length === 0 ? rowsOf({ codes, keys }) : others;
  if (rows.length === 0 && habits.noRows === '404') {
    return { status: 404, body: { detail: 'no observations found' } };
  }
  const isAsked = (row: RowFact) =>
    (codes?.includes(row.country) ?? true) && (keys?.includes(row.metric) ?? true);
  const sent = (habits.ordersByCall ? shuffled(rows, query) : rows).slice(0, limit);
  const meta = {
    ...(habits.total ? { total: habits.totalOf === 'all' ? rows.length : sent.length } : {}),
    ...(habits.metaLimit && Number.isFinite(limit) ? { limit } : {}),
  };
  const ofNames: Flaw | null = sent.every(isAsked) ? null : 'stray';
  const flaw = sent.some(isUnreadable) ? 'failed' : ofNames;
  return { ...wrapped(habits, sent.map(marked), meta), ...(flaw === null ? {} : { flaw }) };
}

/** Rows in an order of the call's own. */
function shuffled(rows: readonly RowFact[], query: URLSearchParams): RowFact[] {
  const dice = createDice('order', query.toString());
  const drawn = rows.map((row) => ({ row, at: dice.next() }));
  return drawn.sort((a, b) => a.at - b.at).map(({ row }) => row);
}

interface Names {
  readonly codes: readonly string[] | undefined;
  readonly keys: readonly string[] | undefined;
}

/** The names that a call is answered for: those asked for, or now and then others. */
function strayed(habits: Habits, world: World, { codes, keys }: Names, query: URLSearchParams): Names {
  if (habits.strays === 'none' || !createDice('strays', query.toString()).chance(0.15))
    return { codes, keys };
  const others = world.rows.filter((row) => {
    if (habits.strays === 'metric') {
      return keys?.every((key) => key.toLowerCase() !== row.metric.toLowerCase()) ?? false;
    }
    return codes?.includes(row.country) === false && (keys?.includes(row.metric) ?? true);
  });
  const [other] = others;
  if (other === undefined) return { codes, keys };
  switch (habits.strays) {
    case 'country':
      return { codes: [other.country], keys };
    case 'metric':
      return { codes, keys: [other.metric] };
    case 'all countries':
      return { codes: undefined, keys };
  }
}

interface Years {
  readonly from: number;
  readonly to: number;
}

function yearsOf(habits: Habits, query: URLSearchParams): Years | Reply {
  const [start, end, year] = ['start_year', 'end_year', 'year'].map((name) => query.get(name));
  const parameter = start != null ? 'start_year' : end != null ? 'end_year' : 'year';
  const isGiven = start != null || end != null || year != null;
  if (isGiven && habits.years === 'refused') {
    return refusedParameter(habits, parameter, 'Extra inputs are not permitted');
  }
  if (isGiven && habits.latestOfYears === 'refused' && query.get('latest') === 'true') {
    return { status: 400, body: { detail: 'latest takes no years' } };
  }
  if (!isGiven || habits.years === 'ignored')
    return { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };
  if (year != null) return { from: Number(year), to: Number(year) };
  const named = {
    from: Number(start ?? Number.NEGATIVE_INFINITY),
    to: Number(end ?? Number.POSITIVE_INFINITY),
  };
  switch (habits.yearsNamed) {
    case 'included':
      return named;
    case 'end excluded':
      return { ...named, to: named.to - 1 };
    case 'both excluded':
      return { from: named.from + 1, to: named.to - 1 };
    case 'of the year after':
      // A fiscal year is asked for by the year in which it ends, and told by the one in which it begins.
      return { from: named.from - 1, to: named.to - 1 };
  }
}

function within(rows: readonly RowFact[], { from, to }: Years): RowFact[] {
  return rows.filter((row) => row.year >= from && row.year <= to);
}

function latestOf(habits: Habits, rows: readonly RowFact[], years: Years): RowFact[] {
  const eligible = habits.latestOfYears === 'after' ? rows : within(rows, years);
  const pairs = Map.groupBy(eligible, (row) => `${row.country} ${row.metric}`);
  const chosen = new Set([...pairs.values()].flatMap((some) => latestRows(some, habits)));
  return within(
    rows.filter((row) => chosen.has(row)),
    years,
  );
}

function listed(query: URLSearchParams, many: string, one: string): string[] | undefined {
  const text = query.get(many) ?? query.get(one);
  if (text === null || text === '') return undefined;
  return text.split(',').filter((name) => name !== '');
}

/** The key as the service spells it, if it takes keys in any case. */
export function spelled(habits: Habits, world: World, key: string): string {
  if (habits.tellsKeyCase) return key;
  return world.indicators.find((one) => one.key.toLowerCase() === key.toLowerCase())?.key ?? key;
}

function refusalOf(
  habits: Habits,
  asked: readonly string[] | undefined,
  known: readonly string[],
  what: 'country' | 'metric',
): Reply | null {
  const habit: Refusal = what === 'country' ? habits.unknownCountry : habits.unknownMetric;
  if (habit === 'no rows' || asked === undefined) return null;
  const unknown = asked.filter((name) => !known.includes(name));
  if (unknown.length === 0 || (!habits.refusesAny && unknown.length < asked.length)) return null;
  const name = what === 'country' ? unknown[0]?.toLowerCase() : unknown[0];
  const parameter = what === 'country' ? 'country_codes' : 'metric_keys';
  switch (habit) {
    case '404 named':
      return { status: 404, body: { detail: `${what} not found: ${name}` } };
    case '404':
      return { status: 404, body: { detail: 'Not found' }, flaw: 'unworded' };
    case '422 named':
      return {
        status: 422,
        body: {
          detail: [{ loc: ['query', parameter], msg: `unknown ${what}: ${name}`, type: 'value_error' }],
        },
      };
    case '422':
      return { status: 422, body: { detail: 'Unprocessable' } };
  }
}
