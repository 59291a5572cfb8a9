import { isDeepStrictEqual } from 'node:util';
import { measure, medianOf, medianRatio, type Sample } from './load.ts';
import { measurePaced, type PacedSample } from './paced-load.ts';
import type { Row } from './rows.ts';
import { answerOf, bodyFor, OURS_COLD, type Running, type Server, startServer } from './servers.ts';
import { type Latency, startUpstream, type Upstream } from './service.ts';

export interface RaceOptions {
  readonly servers: readonly Server[];
  readonly connections: readonly number[];
  readonly seconds: number;
  readonly rounds: number;
  /** Whether ours is also held against the fastest peer at half of that peer's rate. */
  readonly halfLoad: boolean;
  /** How long the service takes; none unless told. */
  readonly latency?: Latency;
}

/** What one server has shown in one row. */
export interface Heat {
  readonly server: Server;
  /** Medians of its rounds, by number of connections. */
  readonly samples: ReadonlyMap<number, Sample>;
  /** What the medians are of. */
  readonly rounds: ReadonlyMap<number, readonly Sample[]>;
  /** Wrong answers before anything was measured. */
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
 * Load before anything is measured, over a service that takes no time. Servers run for days; in their first seconds most of
 * what they take is compiling.
 */
export const WARM_UP_SECONDS = 12;

/** Load that isn't measured before a server's first run with so many connections, and before each further one. */
const CHANGE_SECONDS = 0.6;
const LEAD_SECONDS = 0.3;

/** For how many times as long as others ours and the fastest peer are measured at half load: one answer in a hundred counts. */
const HALF_LOAD_TIMES = 3;

/** All servers in one row: started anew, their answers compared, then measured in turn, round after round. */
export async function raceRow(row: Row, options: RaceOptions): Promise<RowResult> {
  await using upstream = await startUpstream(options.latency);
  await using stack = new AsyncDisposableStack();
  const entered = options.servers.filter(({ rows }) => rows === undefined || rows.includes(row.letter));
  const field = await Promise.all(
    entered.map(async (server) => {
      const running = await startServer(server, upstream.url);
      stack.use(running.child);
      return running;
    }),
  );
  await compareAnswers(field, row);
  const wrongEarly = await warmUp(field, row, upstream, Math.max(...options.connections));

  const rounds = new Map(field.map((running) => [running, new Map<number, Sample[]>()]));
  for (const connections of options.connections) {
    const taken = new Map<Running, Sample[]>();
    // One connection can't show what keys of their own change.
    const runners = field.filter(({ server }) => !server.keyEach || connections > 1);
    const order = (running: Running) => ({ body: bodyFor(running.server, row), connections });
    for (const running of runners) taken.set(running, []);
    for (let round = 0; round < options.rounds; round += 1) {
      const leadSeconds = leadOf(round, options);
      for (const [running, each] of taken) {
        each.push(
          await measure(running, upstream, { ...order(running), leadSeconds, seconds: options.seconds }),
        );
      }
    }
    for (const [running, each] of taken) rounds.get(running)?.set(connections, each);
  }

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
  // Once more: now some answer from what they hold.
  await compareAnswers(field, row);
  return { row, heats, halfLoad: options.halfLoad ? await atHalfLoad(row, heats, field, options) : null };
}

/** None where the service takes its time: all servers meet the same draws from their first operation on. */
function leadOf(round: number, { latency }: RaceOptions): number {
  if (latency !== undefined) return 0;
  return round === 0 ? CHANGE_SECONDS : LEAD_SECONDS;
}

/** @returns how many answers of each were wrong */
async function warmUp(
  field: readonly Running[],
  row: Row,
  upstream: Upstream,
  connections: number,
): Promise<ReadonlyMap<Running, number>> {
  await upstream.setLate(false);
  const wrong = new Map<Running, number>();
  for (const running of field) {
    const order = {
      body: bodyFor(running.server, row),
      connections,
      leadSeconds: 0,
      seconds: WARM_UP_SECONDS,
    };
    wrong.set(running, (await measure(running, upstream, order)).wrong);
  }
  await upstream.setLate(true);
  return wrong;
}

/** @throws where a server answers otherwise than the first one */
async function compareAnswers(field: readonly Running[], row: Row): Promise<void> {
  const [first] = field;
  if (first === undefined) return;
  const expected = await answerOf(first, row);
  for (const running of field.slice(1)) {
    if (isDeepStrictEqual(await answerOf(running, row), expected)) continue;
    throw new Error(`Row ${row.letter}: ${running.server.name} answers otherwise than ${first.server.name}.`);
  }
}

export function fastestPeer(heats: readonly Heat[], connections: number): Heat | undefined {
  const speed = ({ samples }: Heat) => samples.get(connections)?.perSecond ?? 0;
  return heats.filter(({ server }) => server.kind === 'peer').toSorted((a, b) => speed(b) - speed(a))[0];
}

/** How many times as many operations a second one has answered as another; NaN where one of them didn't run. */
export function speedRatio(heat: Heat | undefined, base: Heat | undefined, connections: number): number {
  return medianRatio(heat?.rounds.get(connections) ?? [], base?.rounds.get(connections) ?? []);
}

async function atHalfLoad(
  row: Row,
  heats: readonly Heat[],
  field: readonly Running[],
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
    [ours, theirs].map((running) => ({ running, body: bodyFor(running.server, row) })),
    order,
  );
  if (mine === undefined || peers === undefined) return null;
  return { perSecond, peer: best.server, ours: mine, theirs: peers };
}
