import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import type { Shrinkable } from '../cache/lru.ts';
import { MB } from '../config/memory-budget.ts';
import type { Gateway } from '../gateway/gateway.ts';

/** Milliseconds between two looks. */
const LOOK_MS = 1_000;

/** Operations under made-up keys between two looks that are no flood yet. */
const FEW = 50;

/**
 * Growth of the heap until a full collection, beyond the memory in use, in per cent; 0 leaves it to the engine, which
 * takes up to three times as much again. With little room collections take more of the processor.
 */
const GROWTH = { engines: 0, most: 300, flooded: 50, least: 20 };

/** The share of the budget that is to be used; the rest is room for growth between two looks. */
const USED_SHARE = 0.86;

/** Shares of the budget, beyond which a full collection begins early, and memory is given back at each look. */
const EARLY_SHARE = 0.85;
const FULL_SHARE = 0.97;

/** Factors by which cached entries shrink if there is no room for them, the least share, and the growth back. */
const SHRINKING = { step: 0.85, least: 0.05, back: 1.02 };

/** Factor by which the memory beside the heap is forgotten at each look. */
const FORGETTING = 0.98;

/** Flags that set the share, in per cent, of the room until a full collection at which it begins. */
const COLLECT_NOW = '--incremental-marking-hard-trigger=95';
const COLLECT_LATER = '--incremental-marking-hard-trigger=0';

/** The memory that the process takes, in bytes. */
interface MemoryTaken {
  readonly rss: number;
  readonly heapTotal: number;
  readonly heapUsed: number;
}

interface Engine {
  setFlags(flag: string): void;
  taken(): MemoryTaken;
  /**
   * Has the listener called after each full collection.
   * @returns ends it
   */
  onCollected(listener: () => void): () => void;
}

interface MemoryBounds extends Shrinkable {
  readonly begun: Gateway['load']['begun'];
  readonly budgetMb: number;
}

/**
 * Keeps the process within its budget. The engine's garbage gives way first: the heap may grow beyond the memory in use
 * as far as the budget has room, and by half while most operations come under keys that the service has not accepted.
 * If the memory in use has too little room itself, cached entries shrink. None of it stops the process.
 * @returns stops it
 */
export function boundMemory({ begun, budgetMb, shrink }: MemoryBounds, engine: Engine = V8): () => void {
  const budget = budgetMb * MB;
  let last = { ...begun };
  let growth = GROWTH.engines;
  /** Bytes in use after the last full collection, and after the one before it; null before there was one. */
  let inUse: number | null = null;
  let inUseBefore: number | null = null;
  /** Set by a full collection since the last shrinking. */
  let isCollected = true;
  let isEarly = false;
  let share = 1;
  /** Bytes that the process takes beside its heap: the most of them, slowly forgotten. */
  let outside = 0;
  /** Bytes that the heap takes beyond its contents: the least since the last full collection, and before it. */
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
    // Cached entries may grow again by as much as they last did.
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
