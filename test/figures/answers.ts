import { type FetchedRows, NOT_WHOLE, type Task } from '../../src/observations/called.ts';
import {
  createDataCalls,
  nothingArrived,
  type Refusal,
  type Rows,
} from '../../src/observations/data-calls.ts';
import type { Outcome } from '../../src/observations/fetch.ts';
import type { Rectangle } from '../../src/observations/planner/demand.ts';
import { keyOfPair, type Pair, pairsOf } from '../../src/observations/planner/demand.ts';
import type { Failure } from '../../src/shared/errors.ts';
import { sendingFor } from '../service/sending.ts';
import { createDataRoute, type Habits, type Row, SEEN, type Table } from './data-route.ts';
import { flatPartsWith } from './parts.ts';

/** The answer to a call for latest figures or series, decoded and grouped, without any stage around the call. */
export async function answerFrom(
  table: Table,
  { mode, rectangle }: Pick<Task, 'mode' | 'rectangle'>,
  habits: Partial<Habits> = {},
): Promise<Rows> {
  const { send } = createDataRoute(table, { ...SEEN, ...habits });
  const calls = createDataCalls(flatPartsWith({ send }));
  const reply = await calls.askExactly({ mode, rectangle }, sendingFor());
  if (reply.isRefused) throw new Error('The call was refused.');
  return reply;
}

export function refusal(detail = 'Not found', failure: Failure | null = null): Refusal {
  return { isRefused: true, failure, detail, doubt: null, receivedAt: 0 };
}

interface Replanned {
  readonly pairs: readonly string[];
  readonly changes: Parameters<Task['replan']>[1];
}

/**
 * A task for all pairs of a rectangle, unless some are named, with their outcomes, and the demands that were
 * left to be planned anew.
 */
export function taskFor(rectangle: Rectangle, further: Partial<Task> = {}) {
  const settled = new Map<string, Outcome | 'no figure'>();
  const replanned: Replanned[] = [];
  /** Rows of demands that are planned anew, one after the other. */
  const comes: FetchedRows[] = [];
  const task: Task = {
    mode: 'latest',
    years: null,
    rectangle,
    pairs: pairsOf(rectangle),
    rowsOf: () => 1,
    settle: (some, outcomes) => {
      for (const [i, outcome] of outcomes.entries()) settled.set(keyOfPair(some[i] as Pair), outcome);
    },
    round: 0,
    isOpen: false,
    arrived: nothingArrived(),
    async replan(pairs, changes) {
      replanned.push({ pairs: pairs.map(keyOfPair), changes });
      return comes.shift() ?? NOT_WHOLE;
    },
    ...further,
  };
  return { task, settled, replanned, comes };
}

/** Values of settled rows, by pair. */
export function valuesOf(settled: ReadonlyMap<string, Outcome | 'no figure'>) {
  return Object.fromEntries(
    [...settled].map(([name, outcome]) => [
      name,
      typeof outcome === 'string' || outcome instanceof Error ? outcome : outcome.map(({ value }) => value),
    ]),
  );
}

export function rowAt(countryCode: string, metricKey: string, year: number, value: number | null): Row {
  return { countryCode, metricKey, year, locationName: null, value };
}

export function tableWith(rows: readonly Row[]): Table {
  return {
    countryCodes: [...new Set(rows.map(({ countryCode }) => countryCode))],
    metricKeys: [...new Set(rows.map(({ metricKey }) => metricKey))],
    rows,
  };
}
