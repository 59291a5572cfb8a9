import type { PluginServices } from '../../plugin/index.ts';

const MB = 1_000_000;

/** Megabytes of a process's budget up to which PNGs are made by baseline code. */
export const BASELINE_BUDGET_MB = 400;

/**
 * Flags that keep WebAssembly to the baseline compiler. The optimising one takes some 70 MB for the largest function of the
 * PNG code, which the allocator then keeps; without it, a PNG takes up to twice the processor time.
 */
const BASELINE_WASM = [
  '--wasm-lazy-compilation',
  '--liftoff-only',
  '--no-wasm-tier-up',
  '--no-wasm-dynamic-tiering',
];

/** Bounds of the memory that pictures take. */
export function pictureBounds({ processMb, spareBytes: each }: PluginServices['limits']) {
  const within = (least: number, most: number, bytes: number) =>
    Math.round(Math.min(most, Math.max(least, bytes)));
  return {
    heapMb: within(40, 256, (each * 0.25) / MB),
    waitingBytes: within(2 * MB, 64 * MB, each * 0.05),
    answerBytes: within(1.5 * MB, 4 * MB, each * 0.01),
    maxPixels: within(3e6, 12e6, (each * 0.1) / PIXEL_BYTES),
    engineFlags: processMb <= BASELINE_BUDGET_MB ? BASELINE_WASM : [],
    /** Of the cached drawings. */
    drawingBytes: within(MB, 16 * MB, each * 0.02),
  };
}

/** Bytes of a pixel while a PNG is made. */
const PIXEL_BYTES = 4;
