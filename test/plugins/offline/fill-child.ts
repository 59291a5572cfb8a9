/** A fill in a process of its own, which can be killed, and whose clock its parent moves. */

import { commandView } from '../../../src/cli/command-view.ts';
import { type FillOptions, fill } from '../../../src/plugins/offline/fill.ts';
import { plugins } from '../../../src/plugins.ts';
import { systemClock } from '../../../src/shared/async/clock.ts';

const [sources, options, startMs] = JSON.parse(process.argv[2] ?? '[]') as [string[], FillOptions, number];
let nowMs = startMs;
let sleepers: { readonly untilMs: number; readonly wake: () => void }[] = [];

process.on('message', (atMs: number) => {
  nowMs = atMs;
  const awake = sleepers.filter(({ untilMs }) => untilMs <= nowMs);
  sleepers = sleepers.filter(({ untilMs }) => untilMs > nowMs);
  for (const { wake } of awake) wake();
});

const tell = (message: object) => process.send?.(message);

const now = () => nowMs;
const openSandbox = () => {
  throw new Error('The service is the sandbox of the test.');
};
const clock = {
  ...systemClock,
  now,
  sleep: (ms: number) =>
    new Promise<void>((wake) => {
      sleepers.push({ untilMs: nowMs + ms, wake });
      tell({ sleepMs: ms });
    }),
};

process.exitCode = await fill(sources, options, {
  host: commandView({ env: process.env, plugins, openSandbox }, clock),
  now,
  isTerminal: false,
  print: (text) => void process.stdout.write(text),
  note: (text) => void process.stderr.write(text),
  confirm: null,
});
process.disconnect();
