import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createSteadyClock } from '../../src/shared/async/clock.ts';
import { openProgram } from '../support/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'country-graph-'));
afterAll(() => rmSync(folder, { recursive: true }));

const HOUR_MS = 3_600_000;
const FIGURE =
  '{ countries { name } observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) { value } }';

/** A clock that stands at ten, and can be set. */
function settable() {
  const clock = {
    nowMs: Date.parse('2026-11-21T10:00:00Z'),
    now: () => clock.nowMs,
    sleep: () => new Promise<void>(() => {}),
  };
  return clock;
}

describe('a clock that is set back', () => {
  it('a clock that is set back goes on from where it was, until it is past that', () => {
    let [atMs, elapsedMs] = [1_000_000, 0];
    const now = createSteadyClock(
      () => atMs,
      () => elapsedMs,
    );
    const passed = (ms: number, setTo: number) => {
      elapsedMs += ms;
      atMs = setTo;
      return now();
    };
    expect(passed(10, 1_000_010)).toBe(1_000_010);
    expect(passed(10, 500_000)).toBe(1_000_020);
    expect(passed(7, 500_007)).toBe(1_000_027);
    expect(passed(5, 2_000_000)).toBe(2_000_000);
    expect(passed(5, 1_999_999)).toBe(2_000_000);
    expect(passed(5, 2_000_004)).toBe(2_000_004);
  });

  it('a clock that is set back knows what has passed though nobody has looked meanwhile', () => {
    let [atMs, elapsedMs] = [1_000_000, 500];
    const now = createSteadyClock(
      () => atMs,
      () => elapsedMs,
    );
    [atMs, elapsedMs] = [0, 500 + HOUR_MS];
    expect(now()).toBe(1_000_000 + HOUR_MS);
  });

  it('a clock that is set back does not make what is old fresh', async () => {
    const clock = settable();
    await using program = await openProgram({ clock, env: { CACHE_URL: 'memory:', CACHE_RENEWAL: 'off' } });
    expect((await program.ask(FIGURE)).upstream.calls).toBe(2);
    clock.nowMs += 299_000;
    expect((await program.ask(FIGURE)).upstream.calls).toBe(0);
    clock.nowMs += 2_000;
    // Looks at the clock before it is set back: a reader has seen the age of things by then.
    expect((await program.ask('{ health { status } }')).upstream.calls).toBe(1);
    clock.nowMs -= HOUR_MS;
    expect((await program.ask(FIGURE)).upstream.calls).toBe(2);
    expect((await program.ask(FIGURE)).upstream.calls).toBe(0);
  });

  it('a clock that is set back does not make what another start has left in a file fresh', async () => {
    const clock = settable();
    const env = { CACHE_URL: `sqlite:${join(folder, 'ahead.sqlite')}`, CACHE_RENEWAL: 'off' };
    const first = await openProgram({ clock, env });
    await first.ask(FIGURE);
    await first[Symbol.asyncDispose]();
    clock.nowMs -= HOUR_MS;
    await using second = await openProgram({ clock, env });
    expect((await second.ask(FIGURE)).upstream).toMatchObject({ calls: 2, cached: 0 });
    expect((await second.ask(FIGURE)).upstream.calls).toBe(0);
  });
});
