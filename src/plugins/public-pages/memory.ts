import type { Config } from '../../config/config.ts';
import { MB, spareBytes } from '../../config/memory-budget.ts';

/** Megabytes of a process's budget up to which the code that makes PNG stays baseline code. */
export const BASELINE_BUDGET_MB = 400;

/**
 * Flags of the engine for such a process: functions of WebAssembly are compiled when they are first called, and by the
 * baseline compiler alone. The optimising one takes some 70 MB for the largest function of the code that makes PNG, which the
 * allocator then keeps; without it a PNG takes up to twice the processor time.
 */
const BASELINE_WASM = [
  '--wasm-lazy-compilation',
  '--liftoff-only',
  '--no-wasm-tier-up',
  '--no-wasm-dynamic-tiering',
];

const isBaseline = (processMb: number) => processMb <= BASELINE_BUDGET_MB;

/**
 * Bounds of pictures while they are made: the heap of their thread, the answers that it draws, the pixels of a PNG, and flags
 * of the engine to set before the thread begins.
 */
export function pictureBounds(config: Config) {
  const each = spareBytes(config) / config.workers;
  const within = (least: number, most: number, bytes: number) =>
    Math.round(Math.min(most, Math.max(least, bytes)));
  return {
    heapMb: within(40, 256, (each * 0.25) / MB),
    waitingBytes: within(2 * MB, 64 * MB, each * 0.05),
    answerBytes: within(1.5 * MB, 4 * MB, each * 0.01),
    maxPixels: within(3e6, 12e6, (each * 0.1) / PIXEL_BYTES),
    engineFlags: isBaseline(config.memoryMb / config.workers) ? BASELINE_WASM : [],
    /** Of the drawings that are cached as they were made. */
    drawingBytes: within(MB, 16 * MB, each * 0.02),
  };
}

/** Bytes of a pixel while a PNG is made. */
const PIXEL_BYTES = 4;
