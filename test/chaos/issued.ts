/**
 * `npm run issued`: issued keys at the size of a real site. Prints the figures, and ends with exit code 1 if
 * a bound is passed.
 *
 * - Two gateways over one Redis answer `--operations 20000` for `--keys 50` in five groups, and one of them
 *   is killed half way: no budget is passed by one call, and the store counts the calls that the service
 *   received, but for those that the killed one had taken.
 * - `--visitors 1000` of a page ask its five documents, each in an order of its own: they cost the calls of
 *   one visitor. One more hammers: it is refused beyond its share, and the others aren't.
 * - Two gateways over one Redis, one of them killed half way, answer visitors of a page whose key reads figures alone:
 *   operations, streams and pictures. No visitor has more than its share of operations over both, and of streams at one;
 *   no call leaves for another part of the graph, and the sums are equal.
 */
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { Dice } from '../execution/dice.ts';
import { startRedis } from '../support/redis.ts';
import { type Serving, startServing } from '../support/serving.ts';
import { CODES, drawText } from './timed-load.ts';

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '20000' },
    keys: { type: 'string', default: '50' },
    visitors: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
  },
});

const OPERATIONS = Number(values.operations);
const GROUPS = ['a', 'b', 'c', 'd', 'e'];

/** Operations that are under way at a time. */
const AT_ONCE = 40;

/** Share of the operations that the budgets of all groups, and of all keys, have calls for. */
const GROUPS_SHARE = 0.45;
const KEYS_SHARE = 0.48;

const VISITOR_PER_MINUTE = 30;
const OPERATOR_KEY = 'operator-of-the-campaign';

/** Documents of one page, which cost a call or two each. */
const DOCUMENTS = [
  '{ countries { code name } }',
  '{ observations(metricKeys: ["population_total"], latest: true) { value year } }',
  '{ observations(countryCodes: ["KE"], metricKeys: ["gdp_current_usd"], fromYear: 2000) { year value } }',
  '{ country(code: "NG") { offices { name } } }',
  '{ indicators { key name } }',
];

const unlimited = { requestsPerMinute: 1e9, monthlyRequests: 1e12 };
const sandbox = createSandbox({ plans: { team: unlimited } });
const { url: COUNTRY_DATA_URL } = await sandbox.listen();
const dice = new Dice(Number(values.seed));

const say = (name: string, value: string | number) => console.log(`${name.padEnd(62)} ${value}`);

function check(holds: boolean, name: string, value: string | number): void {
  if (!holds) process.exitCode = 1;
  say(`${holds ? '' : 'DOES NOT HOLD: '}${name}`, value);
}

/** Half of them ask for figures that no other call brings, and cost one each. */
const drawOperation = () =>
  dice.chance(0.5) ? drawText(dice) : `{ country(code: "${dice.pick(CODES)}") { offices { name } } }`;

interface Program {
  readonly url: string;
  readonly child: Serving['child'];
  /** Asks the port of operators. */
  admin(method: string, path: string, body?: object): Promise<Usages>;
}

interface Usages {
  readonly key: string;
  readonly usage: readonly { readonly window: string; readonly of: string; readonly calls: number }[];
}

async function start(env: Readonly<Record<string, string>>): Promise<Program> {
  const serving = await startServing({
    env: {
      COUNTRY_DATA_URL,
      COUNTRY_DATA_KEY: sandbox.keys.team,
      OPERATOR_KEY,
      ADMIN_PORT: '0',
      LOG_LEVEL: 'silent',
      GRAPHIQL: 'off',
      ...env,
    },
  });
  const [, address = ''] = /^Health and metrics are at (http:\S+)$/m.exec(serving.printed()) ?? [];
  return {
    url: serving.url,
    child: serving.child,
    async admin(method, path, body) {
      const headers = { authorization: `Bearer ${OPERATOR_KEY}`, 'content-type': 'application/json' };
      const reply = await fetch(new URL(path, address), {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
      return (await reply.json()) as Usages;
    },
  };
}

async function stop({ child }: Program): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** @returns the calls that the answer bills, and the codes of its errors; null if nobody answered */
async function ask(url: string, key: string, query: string, address = '10.0.0.1') {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${key}`,
      'x-forwarded-for': address,
    },
    body: JSON.stringify({ query }),
  }).catch(() => null);
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  const body = (await response?.json().catch(() => null)) as any;
  if (body == null) return null;
  const codes: string[] = (body.errors ?? []).map(
    (error: { extensions: { code: string } }) => error.extensions.code,
  );
  return { calls: Number(body.extensions?.upstream?.calls ?? 0), codes };
}

/** Does pieces of work, so many at a time. */
async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function budgets(): Promise<void> {
  const keyCount = Number(values.keys);
  console.log(`\nTwo gateways over one Redis, ${keyCount} keys in ${GROUPS.length} groups`);
  await using redis = await startRedis();
  const env = {
    CACHE_URL: redis.url,
    CACHE_TIMEOUT_MS: '5000',
    CACHE_TTL_SECONDS: '0',
    STALE_IF_ERROR_SECONDS: '0',
    MAX_CONCURRENT_OPERATIONS: '1000',
  };
  const [one, other] = [await start(env), await start(env)];
  const ofGroup = Math.floor((OPERATIONS * GROUPS_SHARE) / GROUPS.length);
  const ofKey = Math.floor((OPERATIONS * KEYS_SHARE) / keyCount);
  sandbox.log.clear();
  const names = Array.from({ length: keyCount }, (_, i) => `${GROUPS[i % GROUPS.length]}${i}`);
  const keys: string[] = [];
  for (const name of names) {
    const group = { name: name[0], perMonth: ofGroup };
    keys.push((await one.admin('POST', '/keys', { name, group, perDay: ofKey })).key);
  }
  const codes = new Map<string, number>();
  let [billed, lost, sent] = [0, 0, 0];
  await inParallel(Array.from({ length: OPERATIONS }), async () => {
    sent += 1;
    if (sent === Math.floor(OPERATIONS / 2)) other.child.kill('SIGKILL');
    const isOther = sent % 2 === 0 && other.child.signalCode === null && !other.child.killed;
    const answer = await ask((isOther ? other : one).url, dice.pick(keys), drawOperation());
    if (answer === null) lost += 1;
    billed += answer?.calls ?? 0;
    for (const code of answer?.codes ?? []) codes.set(code, (codes.get(code) ?? 0) + 1);
  });
  const received = sandbox.log.length;
  const groups = new Map<string, number>();
  let mostOfKey = 0;
  for (const name of names) {
    const { usage } = await one.admin('GET', `/keys/${name}`);
    const callsOf = (of: string, window: string) =>
      usage.find((each) => each.of === of && each.window === window)?.calls ?? 0;
    groups.set(name[0] ?? '', callsOf('group', 'month'));
    mostOfKey = Math.max(mostOfKey, callsOf('key', 'day'));
  }
  const counted = [...groups.values()].reduce((sum, calls) => sum + calls, 0);
  say('operations, and those that were lost with the killed gateway', `${sent}, ${lost}`);
  say('errors', [...codes].map(([code, count]) => `${code} ${count}`).join(', '));
  check(
    Math.max(...groups.values()) <= ofGroup,
    `most calls of a group, of ${ofGroup}`,
    Math.max(...groups.values()),
  );
  check(mostOfKey <= ofKey, `most calls of a key in the day, of ${ofKey}`, mostOfKey);
  check(
    received <= counted,
    'calls that the service received, and that the store counted',
    `${received}, ${counted}`,
  );
  check(billed <= received, 'calls on the bills of answers', billed);
  check(
    counted - billed <= AT_ONCE,
    'calls counted on no bill, at most one for each operation under way',
    counted - billed,
  );
  check(
    [...codes.keys()].every((code) => code === 'KEY_BUDGET_SPENT'),
    'errors are KEY_BUDGET_SPENT alone',
    codes.size,
  );
  await stop(one);
}

/**
 * Has visitors of a page ask its documents.
 * @returns the calls that the service received
 */
async function visit(count: number): Promise<number> {
  await using redis = await startRedis();
  const program = await start({
    CACHE_URL: redis.url,
    CACHE_TIMEOUT_MS: '5000',
    TRUSTED_PROXIES: '127.0.0.1',
  });
  const terms = { name: 'page', visitorPerMinute: VISITOR_PER_MINUTE };
  const { key } = await program.admin('POST', '/keys', terms);
  sandbox.log.clear();
  let refused = 0;
  const visits = Array.from(
    { length: count },
    (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
  ).flatMap((address) => DOCUMENTS.map((query) => ({ address, query, at: dice.next() })));
  const hammering =
    count === 1
      ? []
      : Array.from({ length: 10 * VISITOR_PER_MINUTE }, (_, i) => ({ query: DOCUMENTS[i % 5] ?? '' }));
  let slowed = 0;
  await Promise.all([
    inParallel(
      visits.toSorted((a, b) => a.at - b.at),
      async ({ address, query }) => {
        const answer = await ask(program.url, key, query, address);
        if (answer === null || answer.codes.length > 0) refused += 1;
      },
    ),
    inParallel(hammering, async ({ query }) => {
      const answer = await ask(program.url, key, query, '192.0.2.1');
      if (answer?.codes.includes('RATE_LIMITED')) slowed += 1;
    }),
  ]);
  const { usage } = await program.admin('GET', '/keys/page');
  const counted = usage.find(({ of, window }) => of === 'key' && window === 'month')?.calls ?? Number.NaN;
  const received = sandbox.log.length;
  await stop(program);
  check(refused === 0, `operations of ${count} that were refused, of ${visits.length}`, refused);
  check(
    counted === received,
    'calls that the service received, and that the store counted',
    `${received}, ${counted}`,
  );
  // Two minutes may have begun while it hammered.
  const most = 3 * VISITOR_PER_MINUTE;
  if (count > 1)
    check(
      hammering.length - slowed <= most,
      `operations of one that hammers, of ${hammering.length}`,
      hammering.length - slowed,
    );
  return received;
}

/** Streams of one key at one gateway, and those that one visitor may have of them. */
const STREAMS = 20;
const STREAMS_OF_VISITOR = 5;

const PICTURE = `"The population of two countries."
query Population {
  observations(countryCodes: ["KE", "NG"], metricKeys: ["population_total"], fromYear: 2015, scope: NATIONAL) {
    value unit year isModelled locationName country { code name } indicator { key name unit } source { key }
  }
}`;
const CHANGES = `subscription { observationsChanged(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) { isWhole } }`;

/** Texts that a key of figures may not run, each by another door. */
const OTHER_PARTS = [
  '{ country(code: "NG") { offices { name } } }',
  '{ tickers(exchangeCode: "NGX") { symbol } }',
  'query { countries(codes: ["KE"]) { ... on Country { tickers { symbol } } } }',
];

/** Opens a stream; returns the codes of errors that it began with, none for one that goes on. */
async function stream(url: string, key: string, address: string, signal: AbortSignal): Promise<string> {
  const reply = await fetch(`${url}/stream`, {
    method: 'POST',
    signal,
    headers: {
      authorization: `Bearer ${key}`,
      accept: 'text/event-stream',
      'content-type': 'application/json',
      'x-forwarded-for': address,
    },
    body: JSON.stringify({ query: CHANGES }),
  }).catch(() => null);
  if (reply?.body == null) return '';
  const told = { text: '' };
  const reading = (async () => {
    for await (const chunk of reply.body as AsyncIterable<Uint8Array>) told.text += Buffer.from(chunk);
  })().catch(() => {});
  await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, 3_000))]);
  return [...told.text.matchAll(/"code":"([A-Z_]+)"/g)].map(([, code]) => code).join();
}

async function shares(count: number): Promise<void> {
  console.log('\nVisitors of a page over two gateways, one of which is killed');
  await using redis = await startRedis();
  const folder = mkdtempSync(join(tmpdir(), 'country-graph-issued-'));
  const [trusted, named] = [join(folder, 'trusted.json'), join(folder, 'public.json')];
  writeFileSync(trusted, JSON.stringify({ [hash('sha256', PICTURE)]: PICTURE }));
  writeFileSync(named, JSON.stringify({ population: { document: 'Population', key: 'page' } }));
  const env = {
    CACHE_URL: redis.url,
    CACHE_TIMEOUT_MS: '5000',
    CACHE_TTL_SECONDS: '0',
    STALE_IF_ERROR_SECONDS: '0',
    MAX_CONCURRENT_OPERATIONS: '1000',
    TRUSTED_PROXIES: '127.0.0.1',
    TRUSTED_DOCUMENTS: trusted,
    TRUSTED_DOCUMENTS_FOR: 'issued',
    PUBLIC_DOCUMENTS: named,
    SUBSCRIPTIONS: 'on',
    MAX_SUBSCRIPTIONS: String(STREAMS),
  };
  const gateways = [await start(env), await start(env)] as const;
  const [one, other] = gateways;
  const terms = {
    name: 'page',
    tags: ['figures'],
    visitorPerMinute: VISITOR_PER_MINUTE,
    perMonth: 1_000_000,
  };
  const { key } = await one.admin('POST', '/keys', terms);
  sandbox.log.clear();

  const leaving = new AbortController();
  const greedy = await Promise.all(
    gateways.flatMap(({ url }) =>
      Array.from({ length: STREAMS }, (_, i) =>
        stream(url, key, `[2001:db8::${i + 1}]:${i + 1}`, leaving.signal),
      ),
    ),
  );
  const open = greedy.filter((codes) => codes === '').length;
  check(open <= 2 * STREAMS_OF_VISITOR, `streams of one visitor at two gateways, of ${2 * STREAMS}`, open);
  const others = await Promise.all(
    Array.from({ length: STREAMS - STREAMS_OF_VISITOR }, (_, i) =>
      stream(one.url, key, `198.51.100.${i}`, leaving.signal),
    ),
  );
  check(
    others.every((codes) => codes === ''),
    'streams of others, all of which begin',
    others.length,
  );

  let [sent, billed, readable, pictures] = [0, 0, 0, 0];
  const answered = new Map<string, number>();
  const codes = new Map<string, number>();
  const asked = Array.from({ length: 10 * count }, (_, i) => i);
  const drawn = '/c/population.svg';
  const startedAtMs = Date.now();
  await inParallel(asked, async () => {
    sent += 1;
    if (sent === asked.length / 2) other.child.kill('SIGKILL');
    const { url } = sent % 2 === 0 && !other.child.killed ? other : one;
    // One of ten visitors asks for half of all, by other spellings of its address.
    const visitor = dice.chance(0.5) ? 0 : 1 + Math.floor(dice.next() * (count - 1));
    const address = `${dice.chance(0.5) ? '::ffff:' : ''}10.1.${visitor >> 8}.${visitor & 255}`;
    if (dice.chance(0.1)) {
      const headers = { 'x-forwarded-for': address };
      const reply = await fetch(new URL(drawn, url), { headers }).catch(() => null);
      if (reply?.status === 200) {
        pictures += 1;
        answered.set(String(visitor), (answered.get(String(visitor)) ?? 0) + 1);
      }
      await reply?.arrayBuffer().catch(() => {});
      return;
    }
    const isOther = dice.chance(0.2);
    const answer = await ask(
      url,
      key,
      isOther
        ? dice.pick(OTHER_PARTS)
        : `{ country(code: "${dice.pick(CODES)}") { observation(metricKey: "population_total") { value } } }`,
      address,
    );
    billed += answer?.calls ?? 0;
    for (const code of answer?.codes ?? []) codes.set(code, (codes.get(code) ?? 0) + 1);
    if (answer === null || answer.codes.includes('RATE_LIMITED')) return;
    answered.set(String(visitor), (answered.get(String(visitor)) ?? 0) + 1);
    if (isOther && !answer.codes.includes('DOCUMENT_NOT_ALLOWED')) readable += 1;
  });
  leaving.abort();
  const minutes = Math.floor(Date.now() / 60_000) - Math.floor(startedAtMs / 60_000) + 1;
  const most = minutes * VISITOR_PER_MINUTE;
  const received = sandbox.log.length;
  const { usage } = await one.admin('GET', '/keys/page');
  const counted = usage.find(({ of, window }) => of === 'key' && window === 'month')?.calls ?? Number.NaN;
  say(
    'operations and pictures, and errors',
    `${sent}, ${[...codes].map((pair) => pair.join(' ')).join(', ')}`,
  );
  check(pictures > 0, 'pictures that were drawn', pictures);
  const busiest = Math.max(...answered.values());
  check(busiest <= most, `most answers of a visitor over both, of ${most} in ${minutes} minutes`, busiest);
  check(readable === 0, 'operations that read another part of the graph', readable);
  const routes = [...sandbox.log].filter(({ path }) => /government|markets/.test(path)).length;
  check(routes === 0, 'calls for another part of the graph', routes);
  check(
    received <= counted,
    'calls that the service received, and that the store counted',
    `${received}, ${counted}`,
  );
  check(
    counted - received <= AT_ONCE,
    'calls that the killed gateway had taken, at most those under way',
    counted - received,
  );
  check(billed <= received, 'calls on the bills of answers', billed);
  await stop(one);
  rmSync(folder, { recursive: true, force: true });
}

if (OPERATIONS > 0) await budgets();
if (Number(values.visitors) > 0) {
  console.log('\nVisitors of a page');
  const ofOne = await visit(1);
  const ofAll = await visit(Number(values.visitors));
  check(ofAll <= ofOne, `calls of ${values.visitors} visitors, of one`, `${ofAll}, ${ofOne}`);
}
if (Number(values.visitors) > 0) await shares(Math.max(10, Number(values.visitors) / 10));
await sandbox.close();
console.log(process.exitCode === 1 ? 'Not all of it holds.' : 'All of it holds.');
