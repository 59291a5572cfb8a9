/** Preloaded before anything else is compiled: V8 counts how often each part of the code runs. */
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
 * Characters of source that have run since the last time: the runs of each part, by its length. It depends on
 * the code, and not on the machine. Code of V8 and Node in a language of their own is not in it.
 */
export async function charactersRun(): Promise<number> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => url.startsWith('file:'))
    .map(({ functions }) => charactersIn(functions.flatMap(({ ranges }) => ranges)))
    .reduce((sum, count) => sum + count, 0);
}

/** Parts stand in one another: each counts without those within it. */
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
