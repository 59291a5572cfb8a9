import { Failure } from '../errors.ts';

/**
 * What working on one operation has come to, counted in things: figures wanted, items of lists. It is bounded before the
 * work is done, and by a count rather than by a clock, so that the same operation has the same outcome on any machine.
 */
export interface Effort {
  /**
   * Counts figures that are about to be wanted.
   * @throws Failure OPERATION_TOO_EXPENSIVE where they are more than may be
   */
  want(figures: number): void;
  /**
   * Counts items of lists that are about to be resolved.
   * @throws Failure OPERATION_TOO_EXPENSIVE where they are more than may be
   */
  list(items: number): void;
  /** Why the work was ended; null where it wasn't. Nothing more is begun from then on. */
  readonly refusal: Failure | null;
}

/** For a key that the service has accepted lately. All figures that the service has are some 150,000. */
const MOST_THINGS = 250_000;

/** For any other key: the latest figures of all countries and indicators are 11,178. */
const MOST_UNPROVEN = 12_500;

export interface EffortParts {
  readonly isProven: () => boolean;
}

export function createEffort({ isProven }: EffortParts): Effort {
  let refusal: Failure | null = null;
  let [figures, items] = [0, 0];

  function refuse(message: string, planned: number, limit: number): never {
    refusal = new Failure('OPERATION_TOO_EXPENSIVE', message, { planned, limit });
    throw refusal;
  }

  function check(count: number, what: string): void {
    const limit = isProven() ? MOST_THINGS : MOST_UNPROVEN;
    if (count <= limit) return;
    const whose =
      limit === MOST_THINGS
        ? '.'
        : ' under a key that the service has not accepted lately. Ask for something small first, so that the key is known.';
    refuse(
      `The operation comes to more ${what} than the ${limit} that this gateway takes${whose}`,
      count,
      limit,
    );
  }

  return {
    get refusal() {
      return refusal;
    },
    want(count) {
      if (refusal !== null) throw refusal;
      figures += count;
      check(figures, 'figures');
    },
    list(count) {
      if (refusal !== null) throw refusal;
      items += count;
      check(items, 'items of lists');
    },
  };
}
