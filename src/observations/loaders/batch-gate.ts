import type { Clock } from '../../shared/async/clock.ts';
import type { PromiseOrValue } from '../../shared/async/promises.ts';

export type BatchGate = ReturnType<typeof createBatchGate>;

/**
 * Decides when the batch of one operation leaves: once no load in flight can add to it, or after a bounded wait.
 *
 * DataLoader's own tick is too early: `country(code)` is ready while `countries` still waits for its list. Their
 * figures would travel in two calls.
 * @param longestMs the longest wait of a batch that is ready, in milliseconds
 */
export function createBatchGate(longestMs: number, after: Clock['after']) {
  let loading = 0;
  let endLongest = () => {};
  let waiting: (() => void)[] = [];
  let pause: Promise<unknown> | null = null;

  function open(): void {
    endLongest();
    const ready = waiting;
    waiting = [];
    for (const leave of ready) leave();
  }

  // Resolvers below a settled load may load again; all of them run before setImmediate.
  const openSoon = () =>
    setImmediate(() => {
      if (loading === 0 && waiting.length > 0) open();
    });

  const closeDuring = <T>(promise: Promise<T>): Promise<T> => {
    loading += 1;
    const end = () => {
      loading -= 1;
      if (loading === 0 && waiting.length > 0) openSoon();
    };
    promise.then(end, end);
    return promise;
  };

  return {
    isOpen: () => loading === 0,
    /** Null unless the execution pauses between two of its turns. */
    pause: () => pause,
    closeDuring,
    /** For pauses of the execution itself: fields of the same selection may ask after it. */
    pauseDuring<T>(turn: Promise<T>): Promise<T> {
      pause = turn;
      const end = () => {
        if (pause === turn) pause = null;
      };
      turn.then(end, end);
      return closeDuring(turn);
    },
    /** For a load that keeps the gate closed, and waits for figures itself. */
    openDuring<T>(figures: Promise<T>): Promise<T> {
      loading -= 1;
      return figures.finally(() => {
        loading += 1;
      });
    },
    whenOpen(leave: () => void): void {
      waiting.push(leave);
      if (waiting.length > 1) return;
      endLongest = after(longestMs, open);
      openSoon();
    },
  };
}

/** The first use loads the module; later ones have it at once. No batch leaves while it is loading. */
export function loadedOnce<Module>(load: () => Promise<Module>) {
  let module: PromiseOrValue<Module> | undefined;
  return <Result>(
    { batchGate }: { readonly batchGate: BatchGate },
    goOn: (module: Module) => PromiseOrValue<Result>,
  ): PromiseOrValue<Result> => {
    module ??= load().then((loaded) => {
      module = loaded;
      return loaded;
    });
    return module instanceof Promise ? batchGate.closeDuring(module).then(goOn) : goOn(module);
  };
}
