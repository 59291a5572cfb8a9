import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import type { Shrinkable } from '../cache/lru.ts';
import { heapGrowthPercent, MB, USED_SHARE } from '../config/memory-budget.ts';

/** Milliseconds between two looks. */
const LOOK_MS = 1_000;

/** The share of the budget beyond which caches shrink at each look. */
const FULL_SHARE = 0.97;

/** Factors by which caches shrink and grow back, and the least share of their bounds. */
const SHRINKING = { step: 0.85, least: 0.05, back: 1.02 };

/** Decay of the greatest memory beside the heap, at each look. */
const FORGETTING = 0.98;

/** In bytes. */
interface MemoryTaken {
  readonly rss: number;
  readonly heapTotal: number;
  readonly heapUsed: number;
}

interface Engine {
  taken(): MemoryTaken;
  /** Calls back after each full collection; returns a function that ends that. */
  onCollected(listener: () => void): () => void;
}

interface MemoryBounds extends Shrinkable {
  readonly budgetMb: number;
}

/**
 * Keeps the process within its budget. The engine bounds garbage to a share of the memory in use (`heapGrowthPercent`), from
 * the start on. If the memory in use, that garbage and the memory beside the heap don't fit together, caches shrink.
 * None of it stops the process.
 * @returns a function that stops it
 */
export function watchMemory({ budgetMb, shrink }: MemoryBounds, engine: Engine = V8): () => void {
  const budget = budgetMb * MB;
  const growth = 1 + heapGrowthPercent(budgetMb) / 100;
  /** Bytes in use after the last full collection and the one before it; null before there was one. */
  let inUse: number | null = null;
  let inUseBefore: number | null = null;
  /** True if there was a full collection since caches last shrank. */
  let isCollected = true;
  let share = 1;
  /** Bytes that the process takes beside its heap: a slowly decaying maximum. */
  let outside = 0;
  /** Least bytes that the heap takes beyond its contents, since the last full collection and before it. */
  let gaps = Number.POSITIVE_INFINITY;
  let gapsBefore = 0;

  const stopListening = engine.onCollected(() => {
    inUseBefore = inUse;
    inUse = engine.taken().heapUsed;
    isCollected = true;
    if (Number.isFinite(gaps)) gapsBefore = gaps;
    gaps = Number.POSITIVE_INFINITY;
  });

  function isCramped({ heapUsed }: MemoryTaken): boolean {
    // The memory in use may grow by as much as it last did.
    const expected = inUse === null ? heapUsed / growth : inUse + Math.max(0, inUse - (inUseBefore ?? 0));
    return expected * growth > budget * USED_SHARE - outside - gapsBefore;
  }

  const timer = setInterval(() => {
    const taken = engine.taken();
    const { rss, heapTotal, heapUsed } = taken;
    outside = Math.max(rss - heapTotal, outside * FORGETTING);
    gaps = Math.min(gaps, heapTotal - heapUsed);
    const lacksRoom = isCramped(taken);
    if ((lacksRoom && isCollected) || rss > FULL_SHARE * budget) {
      share = Math.max(SHRINKING.least, share * SHRINKING.step);
      isCollected = false;
    } else if (!lacksRoom) share = Math.min(1, share * SHRINKING.back);
    if (share < 1) shrink(share);
  }, LOOK_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    stopListening();
  };
}

const V8: Engine = {
  taken: () => process.memoryUsage(),
  onCollected(listener) {
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (isFull(entry)) listener();
    });
    observer.observe({ type: 'gc' });
    return () => observer.disconnect();
  },
};

function isFull(entry: PerformanceEntry): boolean {
  const { kind } = (entry as unknown as { readonly detail: { readonly kind: number } }).detail;
  return kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}
