/** The warnings of an answer that is right but not whole. A warning, unlike a Failure, takes nothing away. */
export const WARNING_CODES = [
  'UNKNOWN_INDICATOR',
  'UNKNOWN_COUNTRY',
  'ROWS_LEFT_OUT',
  'NOT_COMPARABLE',
  'UNREADABLE_PERIOD',
  'UNREADABLE_TIME',
  'SEVERAL_FIGURES',
  'REVISED_SINCE',
  'SUBSCRIPTION_PAUSED',
] as const;

type WarningCode = (typeof WARNING_CODES)[number];

export interface Warning extends LiveWarning {
  /** The field of the answer that it is about, as the path of an error is. */
  readonly path: readonly (string | number)[];
}

/** A warning that is about no field of the answer more than another, as that a subscription is paused. */
export interface LiveWarning {
  readonly code: WarningCode;
  readonly message: string;
  /** The key or code that nothing is known of. */
  readonly name?: string;
  /** Names that are known and spelt alike, the nearest first. */
  readonly didYouMean?: readonly string[];
  /** Template of the upstream route, such as `/v1/data`. */
  readonly route?: string;
  /** Number of rows, or warnings, that are missing. */
  readonly count?: number;
  /** The error of the first of them, or the text that can't be read. */
  readonly detail?: string;
  /** Sorted keys of the sources of all figures of which one was taken. */
  readonly sources?: readonly string[];
  /** The code of the failure that keeps a subscription from going on. */
  readonly reason?: string;
  /** The time at which a subscription goes on by itself, if that is known; ISO 8601, UTC. */
  readonly resumesAt?: string;
}

/** Warnings that one answer lists. */
const MAX_WARNINGS = 100;

export type Warnings = ReturnType<typeof createWarnings>;

/** Keeps the warnings of one operation. */
export function createWarnings() {
  const warnings: Warning[] = [];
  let subjects: Set<string | object> | undefined;
  let looks: (() => void)[] | undefined;
  let omitted = 0;
  let firstOmitted: WarningCode | undefined;

  function add(subject: string | object, code: WarningCode, make: () => Warning): void {
    subjects ??= new Set();
    if (subjects.has(subject)) return;
    subjects.add(subject);
    if (warnings.length < MAX_WARNINGS) {
      warnings.push(make());
      return;
    }
    omitted += 1;
    firstOmitted ??= code;
  }

  return {
    /**
     * Adds a warning, unless there is one about the same thing: the first to say it names its own path.
     * @param about the mark that tells it from others; left out, its code with the name, or the route
     */
    add(warning: Warning, about?: object): void {
      const { code, name, route, message } = warning;
      add(about ?? `${code} ${name ?? route ?? message}`, code, () => warning);
    },
    /** Adds a warning about a name, which is made only if it is listed: its suggestions take a while. */
    addOf: (code: WarningCode, name: string, make: () => Warning) => add(`${code} ${name}`, code, make),
    /** Has something looked at each time that the warnings are listed: by then more may be known. */
    lookAt(look: () => void): void {
      looks ??= [];
      looks.push(look);
    },
    /** Returns the warnings as the answer lists them, in the order they came; undefined if there are none. */
    listed(): readonly Warning[] | undefined {
      if (looks !== undefined) for (const look of looks) look();
      if (warnings.length === 0) return undefined;
      if (firstOmitted === undefined) return warnings;
      const message = `Warnings that are not listed here: ${omitted}.`;
      return [...warnings, { code: firstOmitted, message, path: [], count: omitted }];
    },
  };
}
