import { setFlagsFromString } from 'node:v8';
import type { Gateway } from '../gateway.ts';

/** How often is looked, in milliseconds. */
const LOOK_MS = 1_000;

/** Operations under made-up keys in that time that are no flood yet. */
const FEW = 50;

/**
 * How far the engine lets the heap grow before a full collection, beyond what is in use, in per cent; 0 leaves it to the
 * engine, which takes up to three times as much again. `npm run overload -- flood` measures 481 MB resident with that and
 * 363 with the other; but answers of hundreds of rows take a fifth more of the processor.
 */
const GROWTH = { usual: 0, flooded: 50 };

/**
 * Bounds what garbage adds to the heap while most operations come under keys that the service has not accepted: who has
 * proved nothing gets little of the memory, and the others get their answers fast the rest of the time.
 * @returns stops it
 */
export function boundHeapGrowth(
  { begun }: Pick<Gateway['load'], 'begun'>,
  setFlags = setFlagsFromString,
): () => void {
  let last = { ...begun };
  let growth = GROWTH.usual;
  const timer = setInterval(() => {
    const unproven = begun.unproven - last.unproven;
    const isFlooded = unproven > FEW && unproven > begun.proven - last.proven;
    last = { ...begun };
    const wanted = isFlooded ? GROWTH.flooded : GROWTH.usual;
    if (wanted !== growth) setFlags(`--heap-growing-percent=${wanted}`);
    growth = wanted;
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
