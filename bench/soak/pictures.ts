import { setTimeout as pause } from 'node:timers/promises';
import { KeyDesk } from '../../src/plugins/issued-keys/key-desk.ts';
import { openFiles } from '../../test/address/publishing.ts';
import { Dice } from '../../test/execution/dice.ts';
import { openKeyStore } from '../../test/support/key-store.ts';
import type { Answered } from './load.ts';

/** Clients, each of which requests the next picture as soon as it has one. */
const CLIENTS = 12;

/** Pause of a client after a 503. */
const RETRY_MS = 300;

const CODES = ['KE', 'NG', 'ZA', 'GH', 'EG', 'ET', 'TZ', 'UG', 'RW', 'SN'];
const METRICS = ['population_total', 'gdp_current_usd'];

/** Settings of a gateway with public documents, and a store with the issued key that they use. */
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

/** The path of a picture, half of them PNG. Hardly any is requested twice, so that nearly all have to be drawn. */
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

/** Starts clients that request pictures until they are stopped. */
export function startPictureClients(url: string, seed: number) {
  const { origin } = new URL(url);
  const dice = new Dice(seed);
  let isStopped = false;
  let times: number[] = [];
  let errors: string[] = [];
  let turnedAway = 0;

  async function request(): Promise<void> {
    const sentAtMs = performance.now();
    const { status } = await fetch(origin + drawPath(dice)).then(async (answer) => {
      await answer.arrayBuffer();
      return answer;
    });
    times.push(performance.now() - sentAtMs);
    if (status === 503) {
      turnedAway += 1;
      await pause(RETRY_MS);
    } else if (status !== 200) errors.push(String(status));
  }

  const client = async () => {
    while (!isStopped)
      await request().catch((error: Error) => {
        if (!isStopped) errors.push(error.message);
      });
  };
  for (let i = 0; i < CLIENTS; i += 1) void client();

  return {
    take(): Answered {
      const sorted = times.sort((a, b) => a - b);
      const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
      const taken = { operations: sorted.length, turnedAway, errors, p50Ms: at(0.5), p99Ms: at(0.99) };
      [times, errors, turnedAway] = [[], [], 0];
      return { ...taken, wrong: taken.errors.length };
    },
    stop() {
      isStopped = true;
    },
  };
}
