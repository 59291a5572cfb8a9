import type { QuotaRecord } from '../keys/ledger.ts';
import type { Failure } from '../shared/errors.ts';
import type { AskingServices } from './asking.ts';

/** Figures that a store is to have: latest ones of each country and indicator, and series. */
export interface FiguresToKeep {
  /** In upper case. */
  readonly countryCodes: readonly string[];
  readonly metricKeys: readonly string[];
  /** True for no series. */
  readonly isLatest: boolean;
  /** Years of the series; null for all. */
  readonly years: { readonly from: number | null; readonly to: number | null } | null;
}

/** How a store is filled. */
export interface FillingTerms {
  /** Without the word Bearer; left out, the gateway's own. */
  readonly key: string | undefined;
  /** A file that has the key instead. */
  readonly keyFile: string | undefined;
  /** Name of the plan that is assumed until the service names another. */
  readonly plan: string;
  /** Calls of the month to leave unspent. */
  readonly leave: number;
  /** Age in milliseconds from which figures may be renewed; null for never. */
  readonly everyMs: number | null;
  /** Told of what the operator should know. */
  note(words: string): void;
  /** Called once the answer of a call is stored, with the requests that it took. */
  onCall(requests: number): void;
  /** Called with the rows that have come. */
  onRows(received: number): void;
  /** Called before the first call beyond the agreed ones; returns how many more are agreed to, 0 for none. */
  onSpent(): Promise<number>;
}

/**
 * A gateway that fills a store: it sends calls one by one, as many a minute as the plan allows, and no more than were agreed
 * to. Each answer is stored before the next call, so that a fill that is killed loses none.
 */
export interface Filling {
  /** Without the word Bearer. */
  readonly key: string;
  readonly gateway: Pick<AskingServices, 'ask' | 'explain'>;
  /** The wall clock, in milliseconds since the epoch. */
  readonly now: () => number;
  /** @param calls that may be sent in all */
  agreeTo(calls: number): void;
  /** Why no further call is sent; null while they are. */
  readonly stopped: Failure | null;
  /** Settles once the answers that have come are stored, or have failed to be. */
  stored(): Promise<unknown>;
  quota(): Promise<QuotaRecord>;
  /** Prices figures; nothing is sent. */
  price(figures: FiguresToKeep): Promise<FiguresPrice>;
  /**
   * Fetches what isn't stored, or is to be renewed, until no error is retryable. Yields after each step, so that the caller can
   * stop between two.
   * @param sinceMs sources that were asked for since are new enough
   */
  fetch(figures: FiguresToKeep, sinceMs: number, events: FetchEvents): AsyncIterable<unknown>;
  /** The countries and indicators among these that have figures, as stored. */
  namesWithFigures(figures: FiguresToKeep): Promise<ReadonlySet<string>>;
  stop(): Promise<void>;
}

export interface FetchEvents {
  /** Called with calls that were sent, by route. */
  onBilled(byRoute: Readonly<Record<string, number>>): void;
  /** Called with what could not be fetched. */
  onFailed(code: string, words?: string): void;
}

export interface FiguresPrice {
  /** Figures and series that are wanted. */
  readonly figures: number;
  /** Those of them that are stored. */
  readonly cached: number;
  /** The most calls if nothing fails. */
  readonly calls: number;
  /** True if some are old: then the sources are asked first. */
  readonly mayRenew: boolean;
  /** True if the number depends on the lengths of series. */
  readonly hasSeries: boolean;
  /** Figures that a series of unknown length is taken to have. */
  readonly assumedRows: number;
}

/** A gateway beside which something runs, and what the service has answered it meanwhile. */
export interface Recording {
  readonly url: string;
  /** Lets the operations that run end, and takes no others. */
  drain(): Promise<unknown>;
  /** Answers and figures by their names, under no key and of no time. */
  values(): Promise<readonly RecordedValue[]>;
  close(): Promise<void>;
}

export interface RecordedValue {
  readonly name: string;
  readonly value: unknown;
}
