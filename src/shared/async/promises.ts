/** Cached values are returned without the cost of a promise. */
export type PromiseOrValue<Value> = Value | Promise<Value>;

/** At once, if the value is there. */
export function mapValue<Value, Result>(
  value: PromiseOrValue<Value>,
  goOn: (value: Value) => PromiseOrValue<Result>,
): PromiseOrValue<Result> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}

/** Waits for all of some work: mostly for a single promise, which needs no other around it. */
export function whenAll(work: readonly unknown[]): Promise<unknown> {
  const [first] = work;
  return work.length === 1 && first instanceof Promise ? first : Promise.all(work);
}

/** Turns a synchronous throw into a rejection. */
export function promiseTry<Value>(work: () => PromiseOrValue<Value>): PromiseOrValue<Value> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error);
  }
}

type WaitEnd = 'fulfilled' | 'rejected' | 'aborted';

/**
 * Settles as the promise does, or rejects with the signal's reason if that comes first.
 * @param onEnd called once, at the end of the wait
 */
export function untilAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  onEnd?: (end: WaitEnd) => void,
): Promise<T> {
  if (signal.aborted) {
    onEnd?.('aborted');
    return Promise.reject(signal.reason);
  }
  const { promise: wait, resolve, reject } = Promise.withResolvers<T>();
  let isOver = false;
  const ending =
    <Value>(end: WaitEnd, settle: (value: Value) => void) =>
    (value: Value) => {
      if (isOver) return;
      isOver = true;
      signal.removeEventListener('abort', onAbort);
      onEnd?.(end);
      settle(value);
    };
  const onAbort = () => ending('aborted', reject)(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  promise.then(ending('fulfilled', resolve), ending('rejected', reject));
  return wait;
}

/** For lists that are awaited later: Node would report rejections in them as unhandled. */
export function handleRejections(value: unknown): void {
  if (!Array.isArray(value)) return;
  for (const item of value) {
    if (typeof item?.then === 'function') item.then(handleRejections, ignore);
    else handleRejections(item);
  }
}

const ignore = () => {};
