/** Work that others may have their turns in between: `timeSliced` takes its steps. */
export type Steps<Result> = Generator<void, Result>;

/** Takes all steps of some work at once. */
export function taken<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
