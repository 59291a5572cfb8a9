import type { GraphContext } from './context.ts';

export function runHooks({ caller, batchGate, effort }: GraphContext) {
  return {
    job: caller,
    onPause: batchGate.pauseDuring,
    onList: (items: number) => effort.list(items),
    onError: () => effort.fail(1),
  };
}
