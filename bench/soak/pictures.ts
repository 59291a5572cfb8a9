import { setTimeout as pause } from 'node:timers/promises';
import { KeyDesk } from '../../src/plugins/issued-keys/key-desk.ts';
import { openKeyStore } from '../../src/plugins/issued-keys/key-store.ts';
import { openFiles } from '../../test/address/publishing.ts';
import { Dice } from '../../test/execution/dice.ts';
import type { Answered } from './load.ts';

/** Drawers at once, who ask for another picture as soon as they have one. */
const DRAWERS = 12;

/** Milliseconds after which one that was told to come back does. */
const BACK_MS = 300;

const CODES = ['KE', 'NG', 'ZA', 'GH', 'EG', 'ET', 'TZ', 'UG', 'RW', 'SN'];
const METRICS = ['population_total', 'gdp_current_usd'];

/** Settings of a gateway with public documents, and the issued key that they run under. */
export async function openPictures() {
  const { folder, env } = openFiles();
  const store = await openKeyStore(folder.cacheUrl, 1_000);
  await new KeyDesk(store, Date.now).create({ name: 'page', visitorPerMinute: 100_000 });
  await store.close();
  return {
    env: { ...env, CACHE_URL: folder.cacheUrl, COUNTRY_DATA_KEY: 'demo-team' },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

/** Half of them are PNG: hardly any is asked for twice. */
function drawPath(dice: Dice): string {
  const form = dice.pick(['.png', '.png', '.svg', '']);
  const codes = Array.from({ length: 3 }, () => dice.pick(CODES));
  const asked = dice.pick([
    `lines${form}?codes=${codes}&from=${1960 + dice.below(50)}`,
    `bars${form}?codes=${codes}&metric=${dice.pick(METRICS)}`,
    `map${form}?metric=${dice.pick(METRICS)}`,
    `scatter${form}?`,
  ]);
  const look = form === '' ? '' : `&width=${320 + dice.below(1_280)}&theme=${dice.pick(['light', 'dark'])}`;
  return `/c/${asked}${look}`;
}

/** Has pictures drawn, one after the other by each drawer, until it is stopped. */
export function startDrawers(url: string, seed: number) {
  const { origin } = new URL(url);
  const dice = new Dice(seed);
  let isStopped = false;
  let times: number[] = [];
  let faults: string[] = [];
  let turnedAway = 0;

  async function draw(): Promise<void> {
    const sentAtMs = performance.now();
    const { status } = await fetch(origin + drawPath(dice)).then(async (answer) => {
      await answer.arrayBuffer();
      return answer;
    });
    times.push(performance.now() - sentAtMs);
    if (status === 503) {
      turnedAway += 1;
      await pause(BACK_MS);
    } else if (status !== 200) faults.push(String(status));
  }

  const drawer = async () => {
    while (!isStopped)
      await draw().catch((error: Error) => {
        if (!isStopped) faults.push(error.message);
      });
  };
  for (let i = 0; i < DRAWERS; i += 1) void drawer();

  return {
    take(): Answered {
      const sorted = times.sort((a, b) => a - b);
      const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
      const taken = { operations: sorted.length, turnedAway, faults, p50Ms: at(0.5), p99Ms: at(0.99) };
      [times, faults, turnedAway] = [[], [], 0];
      return { ...taken, wrong: taken.faults.length };
    },
    stop() {
      isStopped = true;
    },
  };
}
