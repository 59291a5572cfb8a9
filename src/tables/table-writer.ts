/** Takes the rows of a table, one at a time. */
export interface TableWriter {
  add(row: readonly unknown[]): void;
  /** Bytes written so far, roughly. */
  bytes(): number;
  /** All that was written. */
  finish(): Uint8Array;
}
