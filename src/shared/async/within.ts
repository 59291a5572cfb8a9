/** For `otherwise`, if the work may have any value. */
export const LATE = Symbol('late');

/** Waits for work no longer than `ms`. The work is not cancelled. */
export function within<Value, Otherwise = undefined>(
  ms: number,
  work: Promise<Value>,
  otherwise?: Otherwise,
): Promise<Value | Otherwise> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Otherwise>((resolve) => {
    // If this process itself was paused, the work may be done.
    timer = setTimeout(() => setImmediate(resolve, otherwise as Otherwise), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
