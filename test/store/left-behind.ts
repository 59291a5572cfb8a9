/**
 * Kilobytes an entry that maps leave behind until a full collection: a plain one, and ours. Run with
 * `--expose-gc --no-allocation-site-pretenuring`.
 */
import { getHeapSpaceStatistics } from 'node:v8';
import { TransientMap } from '../../src/cache/lru.ts';

const ENTRIES = 4_000;
const AT_ONCE = 32;
/** Numbers that each entry brings: 8 kB. */
const LENGTH = 1000;

function leftBehind(map: Pick<TransientMap<unknown>, 'set' | 'delete'>): number {
  turnOver(map, () => 0);
  // Counts from here on, for by now the map is old.
  globalThis.gc?.();
  const before = oldBytes();
  turnOver(map, (entry) => new Array(LENGTH).fill(entry));
  collectYoung();
  return (oldBytes() - before) / 1_000 / ENTRIES;
}

/** Each entry goes when some more have come. */
function turnOver(
  map: Pick<TransientMap<unknown>, 'set' | 'delete'>,
  makeValue: (entry: number) => unknown,
): void {
  for (let entry = 0; entry < ENTRIES; entry += 1) {
    map.set(String(entry), makeValue(entry));
    map.delete(String(entry - AT_ONCE));
    if (entry % 500 === 0) collectYoung();
  }
}

/** Collects twice: objects that are still there then are taken for old. */
function collectYoung(): void {
  for (let i = 0; i < 2; i += 1) globalThis.gc?.({ type: 'minor' });
}

function oldBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name: name }) => name === 'old_space')
    .reduce((sum, { space_used_size: used }) => sum + used, 0);
}

const plain = Array.from({ length: 4 }, () => leftBehind(new Map()));
console.log(JSON.stringify([Math.max(...plain), leftBehind(new TransientMap())]));
