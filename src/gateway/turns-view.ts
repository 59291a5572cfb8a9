import type { Turns } from '../plugin/graph.ts';
import { eachInTurns, type Job, timeSliced, yieldToEventLoop } from '../shared/async/turns.ts';

/** The turns of a job, for who mustn't see the job. */
export const turnsOf = (job: Job): Turns => ({
  next: () => yieldToEventLoop(job),
  each: (items, work) => eachInTurns(job, items, work),
  sliced: (steps) => timeSliced(job, steps),
});
