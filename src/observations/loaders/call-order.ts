import type { Payer } from '../../service/payer.ts';
import type { BatchGate } from './batch-gate.ts';

/** Work that will make a call which fills many fields. */
interface Leading {
  readonly route: string;
  readonly onOver: (() => void)[];
}

/**
 * Orders the calls of one operation while the minute's calls are scarce: first those for figures and lists, which
 * fill most fields, then those for single records in document order. If the minute has no room for all, the fewest
 * fields fail.
 * @param batchGate is open if nothing waits for the records themselves
 */
export function createCallOrder(payer: Payer, isShort: () => boolean, batchGate: BatchGate) {
  const leading = new Set<Leading>();

  function end(one: Leading): void {
    leading.delete(one);
    for (const goOn of one.onOver.splice(0)) goOn();
  }

  /** Resolves in the next turn of the event loop in which the execution doesn't pause. */
  async function nextTurn(): Promise<void> {
    do {
      await batchGate.pause();
      await new Promise<void>((resolve) => setImmediate(resolve));
    } while (batchGate.pause() !== null);
  }

  return {
    /** Hears of each call that is about to leave, even another operation's. */
    payer: {
      reserve: (route) => payer.reserve(route),
      onLeave(route) {
        for (const one of leading) if (one.route === route) end(one);
      },
    } satisfies Payer,
    /** Single records wait until a call to the route is about to leave, or the work is over without one. */
    leads<Result>(route: string, work: Promise<Result>): Promise<Result> {
      const one: Leading = { route, onOver: [] };
      leading.add(one);
      const endOne = () => end(one);
      work.then(endOne, endOne);
      return work;
    },
    /** Undefined if single records may leave at once. */
    turnOfRecords(): Promise<void> | undefined {
      if (!isShort()) return undefined;
      return (async () => {
        // Fields beside them may ask in the same turn, or after a pause.
        await nextTurn();
        while (leading.size > 0 && batchGate.isOpen()) {
          await Promise.all(
            Array.from(leading, ({ onOver }) => new Promise<void>((resolve) => onOver.push(resolve))),
          );
          // Other calls of the same plan leave in this turn.
          await nextTurn();
        }
      })();
    },
  };
}

export type CallOrder = ReturnType<typeof createCallOrder>;
