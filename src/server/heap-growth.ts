import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import type { Shrinkable } from '../cache/lru.ts';
import { MB } from '../config/memory-budget.ts';
import type { Gateway } from '../gateway/gateway.ts';

/** Milliseconds between two looks. */
const LOOK_MS = 1_000;

/** So many operations under unproven keys between two looks are no flood yet. */
const FEW = 50;

/**
 * Growth of the heap beyond the memory in use until a full collection, in per cent; 0 leaves it to the engine, which
 * takes up to three times as much again. With less room, collections take more of the processor.
 */
const GROWTH = { engines: 0, most: 300, flooded: 50, least: 20 };

/** The share of the budget to use; the rest is room for growth between two looks. */
const USED_SHARE = 0.86;

/** Shares of the budget beyond which a full collection begins early, and caches shrink at each look. */
const EARLY_SHARE = 0.85;
const FULL_SHARE = 0.97;

/** Factors by which caches shrink and grow back, and the least share of their bounds. */
const SHRINKING = { step: 0.85, least: 0.05, back: 1.02 };

/** Decay of the greatest memory beside the heap, at each look. */
const FORGETTING = 0.98;

/** Flags for the share of room left, in per cent, at which a full collection begins. */
const COLLECT_NOW = '--incremental-marking-hard-trigger=95';
const COLLECT_LATER = '--incremental-marking-hard-trigger=0';

/** In bytes. */
interface MemoryTaken {
  readonly rss: number;
  readonly heapTotal: number;
  readonly heapUsed: number;
}

interface Engine {
  setFlags(flag: string): void;
  taken(): MemoryTaken;
  /** Calls back after each full collection; returns a function that ends that. */
  onCollected(listener: () => void): () => void;
}

interface MemoryBounds extends Shrinkable {
  readonly begun: Gateway['load']['begun'];
  readonly budgetMb: number;
}

/**
 * Keeps the process within its budget. Garbage gives way first: the heap may grow beyond the memory in use as far as
 * the budget has room, and by half while most operations come under unproven keys. If the memory in use has too little
 * room itself, caches shrink. None of it stops the process.
 * @returns a function that stops it
 */
export function boundMemory({ begun, budgetMb, shrink }: MemoryBounds, engine: Engine = V8): () => void {
  const budget = budgetMb * MB;
  let last = { ...begun };
  let growth = GROWTH.engines;
  /** Bytes in use after the last full collection and the one before it; null before there was one. */
  let inUse: number | null = null;
  let inUseBefore: number | null = null;
  /** True if there was a full collection since caches last shrank. */
  let isCollected = true;
  let isEarly = false;
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
    if (isEarly) engine.setFlags(COLLECT_LATER);
    isEarly = false;
  });

  function growthWithin({ heapUsed }: MemoryTaken): number {
    // The memory in use may grow by as much as it last did.
    const expected = inUse === null ? heapUsed : inUse + Math.max(0, inUse - (inUseBefore ?? 0));
    const room = budget * USED_SHARE - outside - gapsBefore;
    const percent = Math.round(100 * (room / Math.max(1, expected) - 1));
    return percent > GROWTH.most ? GROWTH.engines : Math.max(GROWTH.least, percent);
  }

  function giveBack({ rss }: MemoryTaken): void {
    const isCramped = growth === GROWTH.least;
    if ((isCramped && isCollected) || rss > FULL_SHARE * budget) {
      share = Math.max(SHRINKING.least, share * SHRINKING.step);
      isCollected = false;
    } else if (!isCramped) share = Math.min(1, share * SHRINKING.back);
    if (share < 1) shrink(share);
  }

  const timer = setInterval(() => {
    const taken = engine.taken();
    const { rss, heapTotal, heapUsed } = taken;
    outside = Math.max(rss - heapTotal, outside * FORGETTING);
    gaps = Math.min(gaps, heapTotal - heapUsed);
    let wanted = growthWithin(taken);
    if (isFlooded(begun, last))
      wanted = wanted === GROWTH.engines ? GROWTH.flooded : Math.min(wanted, GROWTH.flooded);
    last = { ...begun };
    if (wanted !== growth) engine.setFlags(`--heap-growing-percent=${wanted}`);
    growth = wanted;
    const isGarbage = heapUsed > (inUse ?? 0) * (1 + GROWTH.least / 100);
    if (!isEarly && isGarbage && rss > EARLY_SHARE * budget) {
      isEarly = true;
      engine.setFlags(COLLECT_NOW);
    }
    giveBack(taken);
  }, LOOK_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    stopListening();
  };
}

function isFlooded(begun: MemoryBounds['begun'], last: MemoryBounds['begun']): boolean {
  const unproven = begun.unproven - last.unproven;
  return unproven > FEW && unproven > begun.proven - last.proven;
}

const V8: Engine = {
  setFlags: setFlagsFromString,
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
