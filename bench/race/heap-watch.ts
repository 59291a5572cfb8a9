/** Preloaded, with `--expose-gc`: on SIGUSR2, prints the heap after a full collection and the resident memory, in bytes. */
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  console.log(`memory ${heapUsed} ${rss}`);
});
