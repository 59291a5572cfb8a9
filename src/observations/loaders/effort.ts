import { Failure } from '../../shared/errors.ts';

/** Limit for keys that the service has accepted lately. The service has some 150,000 figures in all. */
const MOST_THINGS = 250_000;

/** Limit of errors for such a key. A figure of each country and indicator, each with an error, are 11,178. */
const MOST_ERRORS = 25_000;

/** Limit for other keys. The latest figures of all countries and indicators are 11,178. */
const MOST_UNPROVEN = 12_500;

/**
 * Counts the work on one operation: figures, list items and errors. Bounded before the work is done, and by a count
 * rather than a clock, so that an operation has the same outcome on any machine.
 * @throws Failure OPERATION_TOO_EXPENSIVE from each count that exceeds its limit
 */
export class Effort {
  readonly #whose: { readonly isProven: boolean };
  readonly #ended: () => Failure | null;
  #refusal: Failure | null = null;
  #figures = 0;
  #items = 0;
  #errors = 0;

  /** @param ended returns the failure for which the work is ended from outside */
  constructor(whose: { readonly isProven: boolean }, ended: () => Failure | null = () => null) {
    this.#whose = whose;
    this.#ended = ended;
  }

  /** The failure that ended the work; null if none did. Nothing more is begun after it. */
  get refusal(): Failure | null {
    return this.#ended() ?? this.#refusal;
  }

  want(count: number): void {
    this.#figures += count;
    this.#check(this.#figures, 'figures');
  }

  list(count: number): void {
    this.#items += count;
    this.#check(this.#items, 'items of lists');
  }

  /** An error takes as long as ten items. */
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
