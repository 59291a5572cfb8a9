/** Preloaded, so that V8 counts from the start how often each block of code runs. */
import { Session } from 'node:inspector/promises';

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

/**
 * Characters of source run since the previous call: the number of runs of each block times its length. It depends on the
 * code, not on the speed of the machine. Native code of V8 and Node is not counted.
 */
export async function charactersRun(): Promise<number> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => url.startsWith('file:'))
    .map(({ functions }) => charactersIn(functions.flatMap(({ ranges }) => ranges)))
    .reduce((sum, count) => sum + count, 0);
}

/** Ranges are nested: each counts without those within it. */
function charactersIn(ranges: readonly Range[]): number {
  const sorted = ranges.toSorted((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  const around: Range[] = [];
  let sum = 0;
  for (const range of sorted) {
    while ((around.at(-1)?.endOffset ?? Number.POSITIVE_INFINITY) <= range.startOffset) around.pop();
    const length = range.endOffset - range.startOffset;
    sum += range.count * length - (around.at(-1)?.count ?? 0) * length;
    around.push(range);
  }
  return sum;
}
