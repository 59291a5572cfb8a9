import type { Payer } from '../../service/payer.ts';
import type { BatchGate } from './batch-gate.ts';

/** Work that will make a call which fills many fields: it is over once the call is about to leave, or can't any more. */
interface Leading {
  readonly route: string;
  readonly onOver: (() => void)[];
}

/**
 * The order in which the calls of one operation leave while the minute's calls are scarce: first those that fill the
 * most fields, the calls for figures and lists, then those for single records in the order of the document. So if the
 * minute has no room for all of them, what fails is the fewest fields.
 * @param isShort tells if calls are scarce
 * @param batchGate is open if nothing waits for the records themselves
 */
export function createCallOrder(payer: Payer, isShort: () => boolean, batchGate: BatchGate) {
  const leading = new Set<Leading>();

  function end(one: Leading): void {
    leading.delete(one);
    for (const goOn of one.onOver.splice(0)) goOn();
  }

  /** Resolves in the next turn of the event loop that the execution doesn't pause in. */
  async function nextTurn(): Promise<void> {
    do {
      await batchGate.pause();
      await new Promise<void>((resolve) => setImmediate(resolve));
    } while (batchGate.pause() !== null);
  }

  return {
    /** The payer of the operation, which is told of each call that is about to leave, be it another operation's. */
    payer: {
      reserve: (route) => payer.reserve(route),
      onLeave(route) {
        for (const one of leading) if (one.route === route) end(one);
      },
    } satisfies Payer,
    /** Has single records wait until a call to the route is about to leave, or the work is over without one. */
    leads<Result>(route: string, work: Promise<Result>): Promise<Result> {
      const one: Leading = { route, onOver: [] };
      leading.add(one);
      const endOne = () => end(one);
      work.then(endOne, endOne);
      return work;
    },
    /** Waits until the turn of single records; undefined if it is at once. */
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
