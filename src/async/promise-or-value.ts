/** A value that is there, or will be: a held value is answered without a promise, and without the cost of one. */
export type PromiseOrValue<Value> = Value | Promise<Value>;

/** Goes on with a value, at once if it is there. */
export function mapValue<Value, Result>(
  value: PromiseOrValue<Value>,
  goOn: (value: Value) => PromiseOrValue<Result>,
): PromiseOrValue<Result> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}

/** Returns the outcome of some work; a promise that is rejected if the work throws at once. */
export function promiseTry<Value>(work: () => PromiseOrValue<Value>): PromiseOrValue<Value> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error);
  }
}
