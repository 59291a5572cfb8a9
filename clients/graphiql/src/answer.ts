export interface GraphError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: Readonly<Record<string, unknown>> & { readonly code?: string };
}

/** Returns the message of an error, with the command that it speaks of in the place of that word. */
export function messageOf({ message, extensions: { command } = {} }: GraphError): string {
  return typeof command === 'string' ? message.replace('`command`', () => `\`${command}\``) : message;
}

/** Stands in for an answer that is missing or can't be read: the gateway may give one if it is asked again. */
export function noAnswer(code: 'CUT_OFF' | 'NOT_GRAPHQL' | 'NOT_REACHED', message: string) {
  return { errors: [{ message, extensions: { code, retryable: true } }] };
}

/** Says so of an answer that ended before all of it was there. */
export const cutOff = () =>
  noAnswer(
    'CUT_OFF',
    'The answer was cut off on its way: what was still to come is missing. Run the operation again.',
  );

/** A part of an answer that isn't whole, as `extensions.warnings` tells it. */
export interface Warning {
  readonly code: string;
  readonly message: string;
  readonly path?: readonly (string | number)[];
  /** The key or code that nothing is known of. */
  readonly name?: string;
  /** Names that are known and spelt alike, the nearest first. */
  readonly didYouMean?: readonly string[];
}

/** Cost of an operation, as `extensions.upstream` tells it. Another endpoint than ours may tell the calls alone. */
export interface Upstream {
  readonly calls: number;
  readonly byRoute?: Readonly<Record<string, number>>;
  readonly shared?: number;
  readonly cached?: number;
  readonly naive?: number;
  readonly stale?: readonly {
    readonly route: string;
    readonly code: string;
    readonly answers: number;
    readonly ageSeconds: number;
    readonly retryAt?: string;
  }[];
}

/** Price of an operation, as `extensions.explain` tells it. */
export interface Explained {
  readonly calls: number;
  readonly naive?: number;
  readonly least?: number;
  readonly most?: number;
  readonly cached?: number;
  readonly limit?: number;
  readonly plan?: readonly { readonly route: string; readonly target: string; readonly cached: boolean }[];
}

export interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly GraphError[];
  readonly extensions?: {
    readonly upstream?: Upstream;
    readonly explain?: Explained;
    readonly warnings?: readonly Warning[];
    /** Of an answer from what is cached alone. */
    readonly freshness?: { readonly offline?: boolean; readonly oldestFetchedAt?: string };
  };
}

/** An answer as far as it has come. */
export interface Arrival {
  readonly answer: Answer;
  /** Parts that have come so far. */
  readonly parts: number;
  readonly isLast: boolean;
  /** Characters of the whole; null if it comes in parts. */
  readonly length: number | null;
}

/** Characters of an answer that are put into the editor whole: with more of them the page stands still. */
const MAX_SHOWN = 200_000;

export const isLong = (length: number | null): boolean => length !== null && length > MAX_SHOWN;
