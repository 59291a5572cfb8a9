import { expect, test } from 'vitest';
import { type Heat, speedRatio } from '../../bench/race/heats.ts';
import { medianOf, type Sample } from '../../bench/race/load.ts';
import { MERCURIUS, OURS_COLD } from '../../bench/race/servers.ts';

const CONNECTIONS = 32;

function heat(server: Heat['server'], speeds: readonly number[]): Heat {
  const rounds = speeds.map((perSecond) => ({ perSecond }) as Sample);
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

test('who did not run with so many connections is no faster and no slower', () => {
  const ours = heat(OURS_COLD, [1200]);
  expect(speedRatio(ours, undefined, CONNECTIONS)).toBeNaN();
  expect(speedRatio(ours, heat(MERCURIUS, [800]), 1)).toBeNaN();
});
