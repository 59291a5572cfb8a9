import { askedWith, measure, medianOf, medianRatio, type Sample } from './load.ts';
import { measurePaced, type PacedSample } from './paced-load.ts';
import { FIRST_QUESTION } from './questions.ts';
import type { Row } from './rows.ts';
import { answerDigest, OURS_COLD, type Running, type Server, startServer } from './servers.ts';
import { type Bodies, type Latency, rightDigest, startUpstream, type Upstream } from './service.ts';

export interface RaceOptions {
  readonly servers: readonly Server[];
  readonly connections: readonly number[];
  readonly seconds: number;
  readonly rounds: number;
  /** True if ours is also held against the fastest peer at half of that peer's rate. */
  readonly halfLoad: boolean;
  /** Time that the service takes; none unless told. */
  readonly latency?: Latency;
  /** How answers of the service differ, but for servers that are sent the same bytes; a tenth of their rows unless told. */
  readonly bodies?: Bodies;
}

/** Results of one server in one row. */
export interface Heat {
  readonly server: Server;
  /** Medians of its rounds, by number of connections. */
  readonly samples: ReadonlyMap<number, Sample>;
  /** Samples that the medians are of. */
  readonly rounds: ReadonlyMap<number, readonly Sample[]>;
  /** Wrong answers outside of the measured time. */
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
 * Seconds of load before anything is measured, over a service that takes no time. Servers run for days, and V8's last
 * compiler takes a function only after 3,000 calls: one that is called once in an operation, after 3,000 operations.
 * Then it compiles for seconds more, on the core of the gateway.
 */
export const WARM_UP_SECONDS = Number(process.env.BENCH_WARM_UP_SECONDS ?? 45);

/** Load that isn't measured before a server's first run with so many connections, and before each further one. */
const CHANGE_SECONDS = 0.6;
const LEAD_SECONDS = 0.3;

/**
 * Ratio of the time at half load, for ours and the fastest peer, to that of others: one answer in a hundred
 * counts.
 */
const HALF_LOAD_TIMES = 3;

/** A server in a row, and the service that it asks. */
interface Entrant extends Running {
  readonly upstream: Upstream;
}

/** All servers in one row: started anew, their answers compared, then measured in turn, round after round. */
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
  const note = (running: Entrant, wrong: number) =>
    wrongEarly.set(running, wrong + (wrongEarly.get(running) ?? 0));
  for (const running of field) note(running, await wrongIn(running, row));
  for (const running of field) note(running, await warmUp(running, row, Math.max(...options.connections)));

  const rounds = new Map(field.map((running) => [running, new Map<number, Sample[]>()]));
  for (const connections of options.connections) {
    const taken = new Map<Entrant, Sample[]>();
    // Leaves out servers with a key for each connection: one connection can't show its effect.
    const runners = field.filter(({ server }) => !server.keyEach || connections > 1);
    for (const running of runners) taken.set(running, []);
    for (let round = 0; round < options.rounds; round += 1) {
      const leadSeconds = leadOf(round, options);
      for (const [running, each] of taken) {
        const order = { connections, leadSeconds, seconds: options.seconds };
        each.push(await measure(running, running.upstream, row, order));
      }
    }
    for (const [running, each] of taken) rounds.get(running)?.set(connections, each);
  }

  // Compares once more: now some answer from held figures.
  for (const running of field) note(running, await wrongIn(running, row));
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

/**
 * No lead over a service that takes its time: all servers meet the same draws from their first operation on.
 */
function leadOf(round: number, { latency }: RaceOptions): number {
  if (latency !== undefined) return 0;
  return round === 0 ? CHANGE_SECONDS : LEAD_SECONDS;
}

/** @returns the number of wrong answers */
async function warmUp(running: Entrant, row: Row, connections: number): Promise<number> {
  const { upstream } = running;
  await upstream.setLate(false);
  const order = { connections, leadSeconds: 0, seconds: WARM_UP_SECONDS };
  const { wrong } = await measure(running, upstream, row, order);
  await upstream.setLate(true);
  return wrong;
}

/** @returns 1 if a server's answer is not the one that the service's own words make, else 0 */
async function wrongIn(running: Entrant, row: Row): Promise<number> {
  const right = await rightDigest(running.upstream.url, row.letter, FIRST_QUESTION);
  const told = await answerDigest(running, row);
  if (told === right) return 0;
  console.error(`Row ${row.letter}: ${running.server.name} answers wrongly. ${told}`);
  return 1;
}

/** Wrong answers of a server in a row. One of them disqualifies it there: it is compared with nobody. */
export function wrongOf({ wrongEarly, samples }: Heat): number {
  return [...samples.values()].reduce((sum, { wrong }) => sum + wrong, wrongEarly);
}

export function fastestPeer(heats: readonly Heat[], connections: number): Heat | undefined {
  const speed = ({ samples }: Heat) => samples.get(connections)?.perSecond ?? 0;
  return heats
    .filter((heat) => heat.server.kind === 'peer' && wrongOf(heat) === 0)
    .toSorted((a, b) => speed(b) - speed(a))[0];
}

/** Operations a second of one by those of another; NaN if one of them didn't run, or not rightly. */
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
        ...(await askedWith(running, running.upstream, row, most)),
      })),
    ),
    order,
  );
  if (mine === undefined || peers === undefined) return null;
  return { perSecond, peer: best.server, ours: mine, theirs: peers };
}
