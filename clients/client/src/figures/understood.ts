/** @throws for what isn't what it is taken for: then the gateway answers, as if nothing was held */
export function understood<Value>(value: Value | undefined | null | false): Value {
  if (value === undefined || value === null || value === false) throw new Error();
  return value;
}

/** Null if it throws, whatever the reason: an operation may always be passed on. */
export function orNull<Value>(make: () => Value): Value | null {
  try {
    return make();
  } catch {
    return null;
  }
}
