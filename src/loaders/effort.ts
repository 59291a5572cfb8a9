import { Failure } from '../errors.ts';

/**
 * The work on one operation, counted in things: figures wanted, items of lists, errors. It is bounded before the work
 * is done, and by a count rather than by a clock, so that the same operation has the same outcome on any machine.
 */
export interface Effort {
  /**
   * Counts figures that are about to be wanted.
   * @throws Failure OPERATION_TOO_EXPENSIVE if they are more than may be
   */
  want(figures: number): void;
  /**
   * Counts items of lists that are about to be resolved.
   * @throws Failure OPERATION_TOO_EXPENSIVE if they are more than may be
   */
  list(items: number): void;
  /**
   * Counts errors that fields are about to be answered with: each takes as long as ten items.
   * @throws Failure OPERATION_TOO_EXPENSIVE if they are more than may be
   */
  fail(errors: number): void;
  /** The failure with which the work was ended; null if it wasn't. Nothing more is begun from then on. */
  readonly refusal: Failure | null;
}

/** The most for a key that the service has accepted lately. All figures that the service has are some 150,000. */
const MOST_THINGS = 250_000;

/** The most errors for such a key. A figure of each country and indicator, each with an error, are 11,178. */
const MOST_ERRORS = 25_000;

/** The most for any other key: the latest figures of all countries and indicators are 11,178. */
const MOST_UNPROVEN = 12_500;

/**
 * Counts for one operation. A class, since an object literal with a getter has the engine make a hidden class for each.
 */
export class CountedEffort implements Effort {
  refusal: Failure | null = null;
  readonly #whose: { readonly isProven: boolean };
  #figures = 0;
  #items = 0;
  #errors = 0;

  /** @param whose the tenant that the work is for */
  constructor(whose: { readonly isProven: boolean }) {
    this.#whose = whose;
  }

  want(count: number): void {
    if (this.refusal !== null) throw this.refusal;
    this.#figures += count;
    this.#check(this.#figures, 'figures');
  }

  list(count: number): void {
    if (this.refusal !== null) throw this.refusal;
    this.#items += count;
    this.#check(this.#items, 'items of lists');
  }

  fail(count: number): void {
    if (this.refusal !== null) throw this.refusal;
    this.#errors += count;
    this.#check(this.#errors, 'errors', MOST_ERRORS);
  }

  #check(count: number, what: string, most: number = MOST_THINGS): void {
    if (count <= MOST_UNPROVEN) return;
    const { isProven } = this.#whose;
    const limit = isProven ? most : MOST_UNPROVEN;
    if (count <= limit) return;
    const whose = isProven
      ? '.'
      : ' under a key that the service has not accepted lately. Ask for something small first, so that the key is known.';
    this.refusal = new Failure(
      'OPERATION_TOO_EXPENSIVE',
      `The operation comes to more ${what} than the ${limit} that this gateway takes${whose}`,
      { planned: count, limit },
    );
    throw this.refusal;
  }
}
