/** Figures held in the page: what has come once is asked for no more while it is fresh. */
import { linkOf } from './figures/apollo-link.ts';
import { createCore, type HoldingOptions } from './figures/core.ts';
import { holdingFetch } from './figures/fetching.ts';
import { exchangeOf } from './figures/urql-exchange.ts';

export type { ClientBill } from './answers.ts';
export type { HoldingOptions } from './figures/core.ts';

type Fetch = typeof globalThis.fetch;

/**
 * Holds the figures of one gateway, under each key apart. Operations are sent for what isn't held; any that it doesn't
 * understand to the last argument is passed on as it is.
 */
export function holdFigures(
  options: HoldingOptions,
  fetch: Fetch = (...request) => globalThis.fetch(...request),
) {
  const core = createCore(options);
  const { url, parse } = options;
  const holding = parse === undefined ? fetch : holdingFetch(core, url, parse, fetch);
  return {
    /** In place of `fetch`, with `parse`. */
    fetch: holding,
    /** Request handler of a link of Apollo Client. */
    link: (Observable: Parameters<typeof linkOf>[1]) => linkOf(core, Observable),
    /** Exchange of urql, with `parse`. */
    exchange: exchangeOf(holding),
    /** Forgets the figures of an event of `observationsChanged`; all, unless it names the country and the indicator of each. */
    revised: core.revised,
    /** At a logout: forgets all, or the figures of one `Authorization`. */
    forget: core.forget,
    /** Resolves when all that is held is on the disk. */
    written: core.written,
    /** Ends what it shares with other tabs. */
    close: core.close,
  };
}
