import { expect, it } from 'vitest';
import { openProgram, type Program, type ProgramOptions } from '../support/program.ts';
import { askTimedOut } from '../support/timed-out.ts';

/** A place on the way of an operation at which the service doesn't answer. */
interface Stage {
  readonly query: string;
  readonly env?: ProgramOptions['env'];
  /** Brings the program there, and returns a function that has the service answer again. */
  readonly hang: (program: Timed) => Promise<() => void> | (() => void);
  /** Routes that the operation has asked for by then. */
  readonly sent: readonly string[];
  /** Routes that the same operation asks for afterwards. */
  readonly next: Readonly<Record<string, number>>;
  /** True if cached figures answer in place of those that come too late. */
  readonly isStale?: boolean;
}

type Timed = Program & { readonly pass: (seconds: number) => void };

const FIGURE = 'observation(metricKey: "population_total") { value }';
const latestOf = (...codes: readonly string[]) =>
  `{ observations(countryCodes: ${JSON.stringify(codes)}, metricKeys: ["population_total"], latest: true) { value } }`;

const hanging =
  (route: string) =>
  ({ sandbox }: Program) =>
    sandbox.faults.set({ kind: 'hang', route });

const [LIST, DATA, LOOK] = ['/v1/countries', '/v1/data', '/v1/platform/etl-status'];

const STAGES: Readonly<Record<string, Stage>> = {
  'the list of countries is asked for': {
    query: '{ countries { name } }',
    hang: hanging(LIST),
    sent: [LIST],
    next: { [LIST]: 1 },
  },
  'the list is asked for, and figures have come ahead of it': {
    query: `{ country(code: "KE") { name ${FIGURE} } }`,
    hang: hanging(LIST),
    sent: [LIST, DATA],
    next: { [LIST]: 1, [DATA]: 1 },
  },
  'the list has come, and figures are asked for ahead of it': {
    query: `{ country(code: "KE") { name ${FIGURE} } }`,
    hang: hanging(DATA),
    sent: [LIST, DATA],
    next: { [LIST]: 1, [DATA]: 1 },
  },
  'figures are asked for': { query: latestOf('KE'), hang: hanging(DATA), sent: [DATA], next: { [DATA]: 1 } },
  'a record is asked for': {
    query: '{ country(code: "KE") { profile { record } } }',
    hang: hanging('/v1/countries/{code}/profile'),
    sent: ['/v1/countries/{code}/profile'],
    next: { '/v1/countries/{code}/profile': 1 },
  },
  'the rest of a cut answer is asked for': {
    query: latestOf('KE', 'NG'),
    hang(program) {
      const patch = ({ data, meta }: { readonly data: readonly unknown[]; readonly meta: object }) => ({
        data: data.slice(1),
        meta: { ...meta, total: data.length },
      });
      program.sandbox.faults.set({ kind: 'shape', route: DATA, times: 1, patch });
      return hanging(DATA)(program);
    },
    sent: [DATA, DATA],
    next: { [DATA]: 1 },
  },
  'the names of a refused call are told apart': {
    query: latestOf('KE', 'NG'),
    hang(program) {
      program.sandbox.faults.set({ kind: 'status', status: 422, route: DATA, times: 1 });
      return hanging(DATA)(program);
    },
    sent: [DATA, DATA],
    next: { [DATA]: 1 },
  },
  'a failed call waits to be tried again': {
    query: '{ sources { key } }',
    env: { UPSTREAM_RETRIES: '20' },
    hang({ sandbox }) {
      return sandbox.faults.set({ kind: 'status', status: 503, body: { detail: 'down' } });
    },
    sent: [LOOK],
    next: { [LOOK]: 1 },
  },
  'figures past their time are checked': {
    query: latestOf('KE'),
    env: { CACHE_URL: 'memory:' },
    async hang(program) {
      for (const code of ['KE', 'NG', 'GH', 'ZA', 'EG', 'MA']) await program.ask(latestOf(code));
      program.sandbox.log.clear();
      program.pass(400);
      return hanging(LOOK)(program);
    },
    sent: [LOOK],
    next: { [DATA]: 1 },
    isStale: true,
  },
};

/** The program with a clock that the test moves, on which a wait for the minute is as long as the test. */
async function open(env: ProgramOptions['env'] = {}) {
  let nowMs = Date.parse('2026-11-10T12:00:30Z');
  let sleeping = 0;
  const clock = {
    now: () => nowMs,
    sleep() {
      sleeping += 1;
      return new Promise<void>(() => {});
    },
  };
  const program = await openProgram({ clock, sandbox: { now: clock.now }, env });
  const pass = (seconds: number) => {
    nowMs += seconds * 1000;
  };
  return Object.assign(program, { pass, sleeping: () => sleeping });
}

const routesIn = ({ sandbox }: Program) => sandbox.log.map(({ route }) => route).sort();

it.each(Object.entries(STAGES))(
  'a client that leaves while %s leaves nothing behind for the next operation',
  async (_, { query, env = {}, hang, sent, next }) => {
    await using program = await open(env);
    const mend = await hang(program);
    const leaving = new AbortController();
    const left = program.ask(query, { signal: leaving.signal }).catch(() => null);
    await expect.poll(() => routesIn(program).slice(0, sent.length)).toEqual(sent.toSorted());
    leaving.abort();
    expect(await left).toBeNull();
    await expect.poll(() => program.operations.length + program.problems.length).toBeGreaterThan(0);
    mend();
    const { errors, upstream } = await program.ask(query);
    expect([errors, upstream.byRoute, program.problems]).toEqual([[], next, []]);
  },
);

it.each(Object.entries(STAGES))(
  'an operation whose time is over while %s leaves nothing behind for the next one',
  async (_, { query, env = {}, hang, sent, next, isStale = false }) => {
    await using program = await open({
      ...env,
      UPSTREAM_TIMEOUT_MS: '120000',
      OPERATION_TIMEOUT_MS: '60000',
    });
    const mend = await hang(program);
    const late = await askTimedOut(program, query, { calls: sent.length, timeoutMs: 60_000 });
    expect(routesIn(program).slice(0, sent.length)).toEqual(sent.toSorted());
    expect(new Set(late.errors.map(({ extensions }) => extensions.code))).toEqual(
      new Set(isStale ? [] : ['OPERATION_TIMEOUT']),
    );
    mend();
    const { errors, upstream } = await program.ask(query);
    expect([errors, upstream.byRoute, program.problems]).toEqual([[], next, []]);
  },
);

it.each([
  ['a figure', latestOf('KE')],
  ['a list', '{ sources { key } }'],
])('a client that leaves while %s waits for the minute leaves nothing behind', async (_, query) => {
  await using program = await open({ RATE_LIMIT_WAIT_MS: '60000', OPERATION_TIMEOUT_MS: '60000' });
  const { ask, sandbox, sleeping } = program;
  const key = sandbox.keys.free;
  const spent = {
    kind: 'status',
    status: 429,
    body: { detail: 'rate limit: 5 requests per minute' },
  } as const;
  const mend = sandbox.faults.set(spent);
  const leaving = new AbortController();
  const left = ask(query, { key, signal: leaving.signal }).catch(() => null);
  await expect.poll(sleeping).toBeGreaterThan(0);
  leaving.abort();
  expect(await left).toBeNull();
  expect(sandbox.log).toHaveLength(1);
  mend();
  program.pass(31);
  const { errors, upstream } = await ask(query, { key });
  expect([errors, upstream.calls, sandbox.log.length]).toEqual([[], 1, 2]);
});
