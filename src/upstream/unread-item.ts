/**
 * An item of a list that is no JSON, where the rest of the body is. Decoders of the list take it for a row that can't be
 * read; where it stays within a record, it is written as null.
 */
export class UnreadItem {
  /** Text in it that is no JSON, cut short. */
  readonly problem: string;
  /** Members of it that are texts or numbers, by name. */
  readonly legible: Readonly<Record<string, unknown>>;

  constructor(problem: string, legible: Readonly<Record<string, unknown>>) {
    this.problem = problem;
    this.legible = legible;
  }

  toJSON(): null {
    return null;
  }
}
