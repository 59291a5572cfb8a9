import { expect, it } from 'vitest';
import { longestTurn } from '../../support/turns.ts';
import { openFolder, openRecording, revisionsOf, row, SERIES } from './recording.ts';

/** The longest that an answer may keep the event loop, in milliseconds of CPU time. */
const MOST_MS = 20;

/** A collection of garbage may fall into any turn, but not into the same one each time. */
const ROUNDS = 5;

/** Of eleven metrics, 99 figures each at the most. */
const METRICS = JSON.stringify(Array.from({ length: 11 }, (_, i) => `m${i}`));
const rows = (value: number) =>
  Array.from({ length: 999 }, (_, i) =>
    row(1900 + (i % 99), value, { metric_key: `m${Math.floor(i / 99)}` }),
  );

it('recording a thousand revisions of one answer keeps the event loop for no more than 20 ms at a time', async () => {
  using folder = openFolder();
  await using program = await openRecording({ rows: rows(0), file: folder.file });
  let leastMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    program.service.revise(rows(round));
    const looked = () => program.look(SERIES.replace('["one"]', METRICS));
    leastMs = Math.min(leastMs, await longestTurn(looked));
  }
  const all = await program.read(revisionsOf(', first: 1000').replace('["one"]', METRICS));
  expect(all.data.revisions).toHaveLength(1000);
  expect(leastMs).toBeLessThanOrEqual(MOST_MS);
}, 60_000);
