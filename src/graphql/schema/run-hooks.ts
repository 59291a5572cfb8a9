import type { GraphContext } from './context.ts';

/** What the run of a plan tells its operation: its pauses, the items of its lists, and its errors. */
export function runHooks({ caller, batchGate, effort }: GraphContext) {
  return {
    job: caller,
    onPause: batchGate.pauseDuring,
    onList: (items: number) => effort.list(items),
    onError: () => effort.fail(1),
  };
}
