import { expect, test } from 'vitest';
import { fastestPeer, type Heat, speedRatio } from '../../bench/race/heats.ts';
import { medianOf, type Sample, variation } from '../../bench/race/load.ts';
import { MERCURIUS, OURS_COLD } from '../../bench/race/servers.ts';

const CONNECTIONS = 32;

function heat(server: Heat['server'], speeds: readonly number[]): Heat {
  const rounds = speeds.map((perSecond) => ({ perSecond, wrong: 0 }) as Sample);
  return {
    server,
    samples: new Map([[CONNECTIONS, medianOf(rounds)]]),
    rounds: new Map([[CONNECTIONS, rounds]]),
    wrongEarly: 0,
    peakRssMb: 0,
  };
}

test('a machine that turns slow between two runs makes neither of them the faster one', () => {
  const ours = heat(OURS_COLD, [1200, 700, 700, 700]);
  const theirs = heat(MERCURIUS, [800, 800, 500, 500]);
  expect(speedRatio(ours, theirs, CONNECTIONS)).toBeCloseTo(1.4);
});

test('a server that did not run with so many connections is no faster and no slower', () => {
  const ours = heat(OURS_COLD, [1200]);
  expect(speedRatio(ours, undefined, CONNECTIONS)).toBeNaN();
  expect(speedRatio(ours, heat(MERCURIUS, [800]), 1)).toBeNaN();
});

test('a server that gave one wrong answer is compared with none', () => {
  const ours = heat(OURS_COLD, [1200]);
  const wrong = { ...heat(MERCURIUS, [1600]), wrongEarly: 1 };
  const right = heat(MERCURIUS, [800]);
  expect(fastestPeer([ours, wrong, right], CONNECTIONS)).toBe(right);
  expect(fastestPeer([ours, wrong], CONNECTIONS)).toBeUndefined();
  expect(speedRatio(ours, wrong, CONNECTIONS)).toBeNaN();
  expect(speedRatio({ ...ours, wrongEarly: 1 }, right, CONNECTIONS)).toBeNaN();
});

test('variation is the standard deviation by the mean, and none of a single run', () => {
  expect(variation([90, 100, 110])).toBeCloseTo(10);
  expect(variation([100])).toBeNaN();
});
