import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { KeyDesk } from '../../src/plugins/issued-keys/key-desk.ts';
import type { KeyStore } from '../../src/plugins/issued-keys/key-store.ts';
import { openKeyStore } from '../support/key-store.ts';
import { movingClock } from '../support/moving-clock.ts';
import { type Asking, openProgram, type ProgramOptions } from '../support/program.ts';

export const START = Date.parse('2026-03-10T12:00:30Z');
export const FIGURE = '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }';
export const figureOf = (code: string) => FIGURE.replace('KE', code);

/** A folder for a file of SQLite. */
export function openFolder() {
  const path = mkdtempSync(join(tmpdir(), 'issued-'));
  return {
    path,
    cacheUrl: `sqlite:${join(path, 'figures.db')}`,
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

/**
 * Has the time by which a gateway reads issued keys anew stand still until the test is over, however busy the machine is. To
 * be called before anything is asked by a key.
 * @returns a function that has some milliseconds of it pass
 */
export function holdReadings(): (ms: number) => void {
  // Whole, so that a second later is no less than one.
  let nowMs = Math.ceil(performance.now());
  // Not a fake timer of Vitest: its polls would have time pass.
  const now = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  onTestFinished(() => now.mockRestore());
  return (ms) => {
    nowMs += ms;
  };
}

/** Keeps a text under a name, as a hand or another release would. */
export async function keep(store: KeyStore, name: string, text: string): Promise<void> {
  const { version } = await store.all();
  if ((await store.change(version, new Map([[name, text]]))) === null) await keep(store, name, text);
}

/** A gateway that holds the team's key and issues others, and the desk of its operator, on a clock that the test moves. */
export async function openIssuing({
  env = {},
  cacheUrl,
  clock = movingClock(START),
  ...options
}: Omit<ProgramOptions, 'clock'> & {
  readonly cacheUrl: string;
  readonly clock?: ReturnType<typeof movingClock>;
}) {
  const program = await openProgram({
    ...options,
    clock: clock.clock,
    sandbox: { now: clock.clock.now, ...options.sandbox },
    env: { CACHE_URL: cacheUrl, COUNTRY_DATA_KEY: 'demo-team', CACHE_RENEWAL: 'off', ...env },
  });
  const store = await openKeyStore(cacheUrl, 1_000);
  const desk = new KeyDesk(store, clock.clock.now);
  const close = program[Symbol.asyncDispose].bind(program);
  return Object.assign(program, {
    desk,
    store,
    clock,
    pass: clock.pass,
    /** Has the usage written that is gathered for a second otherwise. */
    gather: () => program.issued?.usage.flush(),
    issue: async (terms: object) => (await desk.create(terms)).key,
    /** Asks, and names the codes of the errors. */
    async codes(query: string, asking: Asking) {
      const { errors } = await program.ask(query, asking);
      return errors.map(({ extensions }) => extensions.code);
    },
    async [Symbol.asyncDispose]() {
      await close();
      await store.close();
    },
  });
}
