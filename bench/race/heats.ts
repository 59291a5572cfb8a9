import { measure, medianOf, medianRatio, requestsOn, type Sample } from './load.ts';
import { measurePaced, type PacedSample } from './paced-load.ts';
import { FIRST_QUESTION } from './questions.ts';
import type { Row } from './rows.ts';
import { OURS_COLD, type Running, responseDigest, type Server, startServer } from './servers.ts';
import { type Bodies, expectedDigest, type Latency, startUpstream, type Upstream } from './service.ts';

export interface RaceOptions {
  readonly servers: readonly Server[];
  readonly connections: readonly number[];
  readonly seconds: number;
  readonly rounds: number;
  /** True to also compare ours with the fastest peer at half of that peer's throughput. */
  readonly halfLoad: boolean;
  /** Latency of the service; none by default. */
  readonly latency?: Latency;
  /** How much of a response of the service changes; a tenth of its rows by default. Servers with `sameBytes` always get the same ones. */
  readonly bodies?: Bodies;
}

/** Results of one server in one row. */
export interface Heat {
  readonly server: Server;
  /** Medians over the rounds, by number of connections. */
  readonly samples: ReadonlyMap<number, Sample>;
  /** All samples, by number of connections. */
  readonly rounds: ReadonlyMap<number, readonly Sample[]>;
  /** Wrong responses outside of the measured time: before it, while warming up, and after it. */
  readonly wrongEarly: number;
  readonly peakRssMb: number;
}

export interface HalfLoad {
  readonly perSecond: number;
  readonly peer: Server;
  readonly ours: PacedSample;
  readonly theirs: PacedSample;
}

export interface RowResult {
  readonly row: Row;
  readonly heats: readonly Heat[];
  readonly halfLoad: HalfLoad | null;
}

/**
 * Seconds of warm-up before anything is measured, over a service without latency. V8's last compiler takes a function
 * only after 3,000 calls: one that is called once per operation, after 3,000 operations. Then it compiles for several
 * more seconds, on the gateway's core. Servers run for days, so these seconds would distort the result.
 */
export const WARM_UP_SECONDS = Number(process.env.BENCH_WARM_UP_SECONDS ?? 45);

/** Seconds of unmeasured load before a server's first run with a number of connections, and before each further run. */
const CHANGE_SECONDS = 0.6;
const LEAD_SECONDS = 0.3;

/** Runs at half load take this many times as long: a p99 needs many responses, and these runs get fewer a second. */
const HALF_LOAD_TIMES = 3;

/** A running server, and the service that it calls. */
interface Entrant extends Running {
  readonly upstream: Upstream;
}

/** Runs all servers in one row: starts them, checks their responses, and measures them in turn, round after round. */
export async function raceRow(row: Row, options: RaceOptions): Promise<RowResult> {
  await using stack = new AsyncDisposableStack();
  const entered = options.servers.filter(
    ({ rows = row.letter, native }) => rows.includes(row.letter) && (native?.missing() ?? null) === null,
  );
  const upstream = stack.use(await startUpstream(options.latency, options.bodies));
  const same = entered.some(({ sameBytes }) => sameBytes)
    ? stack.use(await startUpstream(options.latency, 'same'))
    : upstream;
  const field: Entrant[] = await Promise.all(
    entered.map(async (server) => {
      const over = server.sameBytes ? same : upstream;
      const running = await startServer(server, over.url);
      stack.use(running.child);
      return { ...running, upstream: over };
    }),
  );
  const wrongEarly = new Map(field.map((running) => [running, 0]));
  const countWrong = (running: Entrant, wrong: number) =>
    wrongEarly.set(running, wrong + (wrongEarly.get(running) ?? 0));
  for (const running of field) countWrong(running, await wrongIn(running, row));
  for (const running of field)
    countWrong(running, await warmUp(running, row, Math.max(...options.connections)));

  const rounds = new Map(field.map((running) => [running, new Map<number, Sample[]>()]));
  for (const connections of options.connections) {
    const taken = new Map<Entrant, Sample[]>();
    // With one connection, a key each is the same as one key.
    const runners = field.filter(({ server }) => !server.keyEach || connections > 1);
    for (const running of runners) taken.set(running, []);
    for (let round = 0; round < options.rounds; round += 1) {
      const leadSeconds = leadOf(round, options);
      for (const [running, each] of taken) {
        const run = { connections, leadSeconds, seconds: options.seconds };
        each.push(await measure(running, running.upstream, row, run));
      }
    }
    for (const [running, each] of taken) rounds.get(running)?.set(connections, each);
  }

  // Checks once more: some servers now answer from their caches.
  for (const running of field) countWrong(running, await wrongIn(running, row));
  const heats = field.map((running) => {
    const each = rounds.get(running) ?? new Map<number, Sample[]>();
    return {
      server: running.server,
      samples: new Map([...each].map(([connections, taken]) => [connections, medianOf(taken)])),
      rounds: each,
      wrongEarly: wrongEarly.get(running) ?? 0,
      peakRssMb: running.child.peakRssMb(),
    };
  });
  return { row, heats, halfLoad: options.halfLoad ? await atHalfLoad(row, heats, field, options) : null };
}

/** None with latency: all servers then get the same sequence of drawn latencies, from their first operation on. */
function leadOf(round: number, { latency }: RaceOptions): number {
  if (latency !== undefined) return 0;
  return round === 0 ? CHANGE_SECONDS : LEAD_SECONDS;
}

/** @returns the number of wrong responses */
async function warmUp(running: Entrant, row: Row, connections: number): Promise<number> {
  const { upstream } = running;
  await upstream.setLate(false);
  const order = { connections, leadSeconds: 0, seconds: WARM_UP_SECONDS };
  const { wrong } = await measure(running, upstream, row, order);
  await upstream.setLate(true);
  return wrong;
}

/** @returns 1 if the server's response differs from the expected one, else 0 */
async function wrongIn(running: Entrant, row: Row): Promise<number> {
  const expected = await expectedDigest(running.upstream.url, row.letter, FIRST_QUESTION);
  const actual = await responseDigest(running, row);
  if (actual === expected) return 0;
  console.error(`Row ${row.letter}: wrong response from ${running.server.name}. ${actual}`);
  return 1;
}

/** Wrong responses of a server in a row. One of them disqualifies it: it takes part in no comparison of that row. */
export function wrongOf({ wrongEarly, samples }: Heat): number {
  return [...samples.values()].reduce((sum, { wrong }) => sum + wrong, wrongEarly);
}

export function fastestPeer(heats: readonly Heat[], connections: number): Heat | undefined {
  const speed = ({ samples }: Heat) => samples.get(connections)?.perSecond ?? 0;
  return heats
    .filter((heat) => heat.server.kind === 'peer' && wrongOf(heat) === 0)
    .toSorted((a, b) => speed(b) - speed(a))[0];
}

/** Throughput of one server divided by that of another; NaN if one of them didn't run or is disqualified. */
export function speedRatio(heat: Heat | undefined, base: Heat | undefined, connections: number): number {
  if ([heat, base].some((each) => each !== undefined && wrongOf(each) > 0)) return Number.NaN;
  return medianRatio(heat?.rounds.get(connections) ?? [], base?.rounds.get(connections) ?? []);
}

async function atHalfLoad(
  row: Row,
  heats: readonly Heat[],
  field: readonly Entrant[],
  { connections, seconds, rounds }: RaceOptions,
): Promise<HalfLoad | null> {
  const most = Math.max(...connections);
  const best = fastestPeer(heats, most);
  const ours = field.find(({ server }) => server === OURS_COLD);
  const theirs = field.find(({ server }) => server === best?.server);
  if (best === undefined || ours === undefined || theirs === undefined) return null;
  const perSecond = Math.max(1, Math.floor((best.samples.get(most)?.perSecond ?? 0) / 2));
  const order = { perSecond, seconds: HALF_LOAD_TIMES * seconds, rounds };
  const [mine, peers] = await measurePaced(
    await Promise.all(
      [ours, theirs].map(async (running) => ({
        running,
        ...(await requestsOn(running, running.upstream, row, most)),
      })),
    ),
    order,
  );
  if (mine === undefined || peers === undefined) return null;
  return { perSecond, peer: best.server, ours: mine, theirs: peers };
}
