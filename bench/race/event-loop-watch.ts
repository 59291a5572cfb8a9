/** Preloaded into ours: on SIGUSR2, prints the longest block of the event loop since the previous signal, in milliseconds. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
process.on('SIGUSR2', () => {
  console.log(`longest block ${(delay.max / 1e6).toFixed(1)}`);
  delay.reset();
});
