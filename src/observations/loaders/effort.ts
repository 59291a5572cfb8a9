import { Failure } from '../../shared/errors.ts';

/** The most for a key that the service has accepted lately. All figures that the service has are some 150,000. */
const MOST_THINGS = 250_000;

/** The most errors for such a key. A figure of each country and indicator, each with an error, are 11,178. */
const MOST_ERRORS = 25_000;

/** The most for any other key: the latest figures of all countries and indicators are 11,178. */
const MOST_UNPROVEN = 12_500;

/**
 * The work on one operation, counted in things: figures wanted, items of lists, errors. It is bounded before the work
 * is done, and by a count rather than by a clock, so that the same operation has the same outcome on any machine. Each
 * count throws a Failure OPERATION_TOO_EXPENSIVE if there are more than may be.
 */
export class Effort {
  readonly #whose: { readonly isProven: boolean };
  readonly #ended: () => Failure | null;
  #refusal: Failure | null = null;
  #figures = 0;
  #items = 0;
  #errors = 0;

  /**
   * @param whose the tenant that the work is for
   * @param ended tells the failure for which the work is ended from without
   */
  constructor(whose: { readonly isProven: boolean }, ended: () => Failure | null = () => null) {
    this.#whose = whose;
    this.#ended = ended;
  }

  /** The failure with which the work was ended; null if it wasn't. Nothing more is begun from then on. */
  get refusal(): Failure | null {
    return this.#ended() ?? this.#refusal;
  }

  /** Counts figures that are about to be wanted. */
  want(count: number): void {
    this.#figures += count;
    this.#check(this.#figures, 'figures');
  }

  list(count: number): void {
    this.#items += count;
    this.#check(this.#items, 'items of lists');
  }

  /** Counts errors that fields are about to be answered with: each takes as long as ten items. */
  fail(count: number): void {
    this.#errors += count;
    this.#check(this.#errors, 'errors', MOST_ERRORS);
  }

  #check(count: number, what: string, most: number = MOST_THINGS): void {
    const ended = this.refusal;
    if (ended !== null) throw ended;
    if (count <= MOST_UNPROVEN) return;
    const { isProven } = this.#whose;
    const limit = isProven ? most : MOST_UNPROVEN;
    if (count <= limit) return;
    const whose = isProven
      ? '.'
      : ' under a key that the service has not accepted lately. Ask for something small first, so that the key is known.';
    this.#refusal = new Failure(
      'OPERATION_TOO_EXPENSIVE',
      `The operation has more ${what} than the ${limit} that this gateway accepts${whose}`,
      { planned: count, limit },
    );
    throw this.#refusal;
  }
}
