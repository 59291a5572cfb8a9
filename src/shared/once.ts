/** Memoizes a value that is made lazily. */
export function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    if (made === undefined) made = make();
    return made;
  };
}
