import type { PromiseOrValue } from '../../shared/async/promises.ts';
import { eachInTurns, type Job } from '../../shared/async/turns.ts';
import type { BatchGate } from './batch-gate.ts';
import type { Effort } from './effort.ts';

/** What work of an operation is done by; its context has all of it. */
export interface Turns {
  readonly caller: Job;
  readonly batchGate: BatchGate;
  readonly effort: Effort;
}

/**
 * Makes something of each item: at once if that is quick, otherwise in turns, for which the batch of the operation
 * waits. Stops once the operation has ended.
 */
export function madeInTurns<Item, Made>(
  { caller, batchGate, effort }: Turns,
  items: readonly Item[],
  make: (item: Item, i: number) => Made,
): PromiseOrValue<readonly Made[]> {
  const made: Made[] = [];
  const making = eachInTurns(caller, items, (item) => {
    const { refusal } = effort;
    if (refusal !== null) throw refusal;
    made.push(make(item, made.length));
  });
  return making instanceof Promise ? batchGate.closeDuring(making).then(() => made) : made;
}
