type Fetch = typeof globalThis.fetch;

/** An operation of urql, as far as an exchange sees it. */
interface Operation {
  readonly context: { readonly requestPolicy?: string; readonly fetch?: Fetch };
}

/** A signal of wonka: 0 at the end, otherwise with a tag, 1 for one that has a value. */
type Signal = 0 | { readonly tag?: number; readonly 0?: unknown };
type Source = (sink: (signal: Signal) => void) => void;

const VALUE = 1;

/**
 * An exchange before `fetchExchange`, which then sends by the given `fetch`, and by POST: what a browser has kept of a GET doesn't say how
 * old it is.
 */
export function exchangeOf(holding: Fetch) {
  const changed = (operation: Operation): Operation => ({
    ...operation,
    context: {
      ...operation.context,
      ...{ preferGetMethod: false },
      fetch: operation.context.requestPolicy === 'network-only' ? reloading : holding,
    },
  });
  const reloading: Fetch = (input, init) => holding(input, { ...init, cache: 'no-cache' });
  // biome-ignore lint/suspicious/noExplicitAny: the types are those of the version of urql that it is given to
  return ({ forward }: { readonly forward: (operations: any) => any }) =>
    // biome-ignore lint/suspicious/noExplicitAny: as above
    (operations: any): any =>
      forward(((sink) =>
        (operations as Source)((signal) => {
          if (signal === 0 || signal.tag !== VALUE) return sink(signal);
          sink(Object.assign([changed(signal[0] as Operation)], { tag: VALUE }) as Signal);
        })) satisfies Source);
}
