import { movingClock } from './moving-clock.ts';
import { openProgram, type ProgramOptions } from './program.ts';

export interface TimedOptions extends ProgramOptions {
  readonly startMs?: number;
}

/**
 * The program with a cache in memory without revalidation, and with a clock that the test advances, for it and its sandbox.
 * `clock` replaces it by that of another program.
 */
export async function openTimedProgram({
  startMs = Date.parse('2026-03-10T12:00:30Z'),
  env,
  ...options
}: TimedOptions = {}) {
  const { clock, pass, timers } = movingClock(startMs);
  const program = await openProgram({
    clock,
    ...options,
    sandbox: { now: clock.now, ...options.sandbox },
    env: { CACHE_URL: 'memory:', CACHE_RENEWAL: 'off', ...env },
  });
  return Object.assign(program, { clock, pass, timers });
}
