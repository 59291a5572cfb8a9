import { type Clock, systemClock } from './clock.ts';

/** For `otherwise`, if the work may have any value. */
export const LATE = Symbol('late');

/** Waits for work no longer than `ms`. The work is not cancelled. */
export function within<Value, Otherwise = undefined>(
  ms: number,
  work: Promise<Value>,
  otherwise?: Otherwise,
  after: Clock['after'] = systemClock.after,
): Promise<Value | Otherwise> {
  let cancel: (() => void) | undefined;
  const late = new Promise<Otherwise>((resolve) => {
    // If this process itself was paused, the work may be done.
    cancel = after(ms, () => setImmediate(resolve, otherwise as Otherwise));
  });
  return Promise.race([work, late]).finally(() => cancel?.());
}
