import { randomUUID } from 'node:crypto';
import { Flow } from '../shared/async/turns.ts';
import type { Failure } from '../shared/errors.ts';
import { type CallBudget, joinBudgets } from './call-budget.ts';

/**
 * Bounds the calls of one request. The name is unique, so that its refusals are shared with nobody.
 * @param within a budget whose calls are taken as well
 */
export function boundedBudget(most: number, beyond: () => Failure, within?: CallBudget): CallBudget {
  let taken = 0;
  const take = () => {
    if (taken >= most) throw beyond();
    taken += 1;
    return () => {
      taken -= 1;
    };
  };
  const name = randomUUID();
  return within === undefined ? { name, flow: new Flow(), take } : joinBudgets(name, take, within);
}
