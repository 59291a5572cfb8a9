/** Stands for something of the gateway: it can be handed on, and shows nothing. */
export interface Sealed<What extends string> {
  readonly what: What;
}

/** Makes seals of one kind, which nobody else can make or open. */
export function createSeal<Value, const What extends string>(what: What) {
  class Seal implements Sealed<What> {
    readonly what = what;
    readonly #value: Value;

    constructor(value: Value) {
      this.#value = value;
    }

    static opened(sealed: Sealed<What>): Value {
      if (sealed instanceof Seal) return sealed.#value;
      throw new TypeError(`This is no ${what} that the gateway has made.`);
    }
  }
  return { seal: (value: Value): Sealed<What> => new Seal(value), open: Seal.opened };
}
