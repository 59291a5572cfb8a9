/** A value that is there, or will be: what is held is answered without a promise, and without what promises cost. */
export type PromiseOrValue<Value> = Value | Promise<Value>;

/** Goes on with a value, at once where it is there. */
export function mapValue<Value, Result>(
  value: PromiseOrValue<Value>,
  goOn: (value: Value) => PromiseOrValue<Result>,
): PromiseOrValue<Result> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}

/** What comes of some work; a promise that is rejected where the work throws at once. */
export function promiseTry<Value>(work: () => PromiseOrValue<Value>): PromiseOrValue<Value> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error);
  }
}
