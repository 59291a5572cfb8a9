/**
 * `npm run issued`: issued keys at the size of a real site. Prints the figures, and ends with exit code 1 if
 * a bound is passed.
 *
 * - Two gateways over one Redis answer `--operations 20000` for `--keys 50` in five groups, and one of them
 *   is killed half way: no budget is passed by one call, and the store counts the calls that the service
 *   received, but for those that the killed one had taken.
 * - `--visitors 1000` of a page ask its five documents, each in an order of its own: they cost the calls of
 *   one visitor. One more hammers: it is refused beyond its share, and the others aren't.
 */
import { once } from 'node:events';
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

if (OPERATIONS > 0) await budgets();
if (Number(values.visitors) > 0) {
  console.log('\nVisitors of a page');
  const ofOne = await visit(1);
  const ofAll = await visit(Number(values.visitors));
  check(ofAll <= ofOne, `calls of ${values.visitors} visitors, of one`, `${ofAll}, ${ofOne}`);
}
await sandbox.close();
console.log(process.exitCode === 1 ? 'Not all of it holds.' : 'All of it holds.');
