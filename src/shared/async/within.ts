/** Stands for a value that isn't there in time, where any value may be one. */
export const LATE = Symbol('late');

/** Waits for work, but no longer than so many milliseconds: it goes on by itself then, and something else stands for its value. */
export function within<Value, Otherwise = undefined>(
  ms: number,
  work: Promise<Value>,
  otherwise?: Otherwise,
): Promise<Value | Otherwise> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Otherwise>((resolve) => {
    // After a pause of this process itself, the work may be done.
    timer = setTimeout(() => setImmediate(resolve, otherwise as Otherwise), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
