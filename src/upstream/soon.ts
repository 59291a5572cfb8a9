/** A value that is there, or will be: what is held is answered without a promise, and without what promises cost. */
export type Soon<Value> = Value | Promise<Value>;

/** Goes on with a value, at once where it is there. */
export function whenThere<Value, Result>(
  value: Soon<Value>,
  goOn: (value: Value) => Soon<Result>,
): Soon<Result> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}
