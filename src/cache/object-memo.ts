/** A value that is remembered of an object for as long as the object lives. */
export interface ObjectMemo<Value> {
  of(owner: object): Value | undefined;
  put(owner: object, value: Value): void;
}

/**
 * Remembers on the object itself, out of sight of JSON. A WeakMap would do the same, but until the next full collection
 * the engine keeps all that a WeakMap leads to, even of objects that nobody holds any longer: here, all that each call
 * brought.
 */
export function createObjectMemo<Value>(what: string): ObjectMemo<Value> {
  const key = Symbol(what);
  type Owner = { [key]?: Value };
  return {
    of: (owner) => (owner as Owner)[key],
    put(owner, value) {
      (owner as Owner)[key] = value;
    },
  };
}
