/** Makes a value when it is first wanted, once. */
export function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    if (made === undefined) made = make();
    return made;
  };
}
