/**
 * `npm run bench:profile -- together`: CPU time of an operation, in microseconds, if the service's responses to 32
 * operations end in one iteration of the event loop, and if each ends in one of its own. Without HTTP and sockets: undici's
 * dispatcher is replaced by a stand-in with recorded bodies, so the difference is that of code and data leaving the
 * processor's caches. Both ways take turns, each operation has a key of its own, and no two bodies from one URL in a row
 * have the same bytes.
 */
import { once } from 'node:events';
import { get } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';
import { readConfig } from '../../src/config/config.ts';
import { createGateway, type Gateway } from '../../src/gateway/gateway.ts';
import { requestOf } from '../hostile/attacks.ts';
import { drawQuestions } from '../race/questions.ts';
import { ROWS, type Row } from '../race/rows.ts';
import { startUpstream } from '../race/service.ts';
import { table } from '../race/table.ts';

const CONCURRENT = 32;
/** Bodies from one URL. */
const COPIES = 8;
/** Rounds of 32 operations of each way. V8 compiles for the last time after some thousands of calls. */
const WARM_UP_ROUNDS = 120;
const ROUNDS = 100;

type Way = 'together' | 'apart';
const WAYS: readonly Way[] = ['together', 'apart'];

/** Answers what undici would send. */
class StandIn {
  way: Way = 'together';
  readonly #recorded = new Map<string, readonly Buffer[] | Promise<readonly Buffer[]>>();
  readonly #ready: (() => void)[] = [];
  #responses = 0;

  /** Responses from a URL are recorded when it is first requested. */
  dispatch({ origin, path }: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    handler.onRequestStart?.(CONTROLLER, {});
    const bodies = this.#recorded.get(path) ?? recordedFrom(`${origin}${path}`);
    this.#recorded.set(path, bodies);
    if (!(bodies instanceof Promise)) this.#respond(handler, bodies);
    else
      void bodies.then((recorded) => {
        this.#recorded.set(path, recorded);
        this.#respond(handler, recorded);
      });
    return true;
  }

  #respond(handler: Dispatcher.DispatchHandler, bodies: readonly Buffer[]): void {
    const body = bodies[this.#responses % bodies.length] as Buffer;
    this.#responses += 1;
    if (this.#ready.length === 0) setImmediate(this.#end);
    this.#ready.push(() => {
      handler.onResponseStart?.(CONTROLLER, 200, { 'content-type': 'application/json' }, 'OK');
      handler.onResponseData?.(CONTROLLER, body);
      handler.onResponseEnd?.(CONTROLLER, {});
    });
  }

  readonly #end = () => {
    for (const end of this.#ready.splice(0, this.way === 'apart' ? 1 : CONCURRENT)) end();
    if (this.#ready.length > 0) setImmediate(this.#end);
  };
}

const CONTROLLER: Dispatcher.DispatchController = {
  aborted: false,
  paused: false,
  reason: null,
  abort() {},
  pause() {},
  resume() {},
};

async function recordedFrom(url: string): Promise<readonly Buffer[]> {
  const bodies: Buffer[] = [];
  for (let i = 0; i < COPIES; i += 1) {
    // `fetch` would use the stand-in.
    const [response] = await once(get(url), 'response');
    bodies.push(await buffer(response));
  }
  return bodies;
}

export async function profileTogether(rows: readonly Row[] = ROWS): Promise<void> {
  await using upstream = await startUpstream();
  const standIn = new StandIn();
  Agent.prototype.dispatch = standIn.dispatch.bind(standIn);
  const gateway = await createGateway({
    config: readConfig({}, []),
    upstreamUrl: upstream.url,
    observer: { operation() {}, attempt() {}, problem() {} },
  });
  const lines: string[][] = [];
  for (const row of rows) {
    const times = await timesOf(gateway, row, standIn);
    lines.push([`${row.letter} ${row.what}`, ...WAYS.map((way) => medianOf(times[way]).toFixed(0))]);
  }
  console.log(table(['CPU µs per operation', ...WAYS], lines));
  await gateway.stop();
}

async function timesOf(gateway: Gateway, row: Row, standIn: StandIn): Promise<Record<Way, number[]>> {
  const queries = drawQuestions(CONCURRENT).map((question) => row.ask(question));
  const times: Record<Way, number[]> = { together: [], apart: [] };
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1) {
    for (const way of WAYS) {
      standIn.way = way;
      const before = process.threadCpuUsage();
      await Promise.all(
        queries.map((query, i) => answered(gateway, query, `${row.letter}-${round}-${way}-${i}`)),
      );
      const { user, system } = process.threadCpuUsage(before);
      if (round >= WARM_UP_ROUNDS) times[way].push((user + system) / CONCURRENT);
      await nextIteration();
    }
  }
  return times;
}

async function answered(gateway: Gateway, query: string, key: string): Promise<void> {
  const { body } = await gateway.handle(requestOf({ query }, { authorization: `Bearer ${key}` }));
  if (String(body).includes('"errors"')) throw new Error(`Failed: ${query}\n${body}`);
}

const medianOf = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
