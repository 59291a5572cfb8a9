/** A value that is there, or will be: what is held is answered without a promise, and without what promises cost. */
export type Soon<Value> = Value | Promise<Value>;

/** Goes on with a value, at once where it is there. */
export function whenThere<Value, Result>(
  value: Soon<Value>,
  goOn: (value: Value) => Soon<Result>,
): Soon<Result> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}

/** What comes of some work; a promise that is rejected where the work throws at once. */
export function soon<Value>(work: () => Soon<Value>): Soon<Value> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error);
  }
}
