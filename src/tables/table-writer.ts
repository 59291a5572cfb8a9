/** Takes the rows of a table, one at a time. */
export interface TableWriter {
  add(row: readonly unknown[]): void;
  /** Bytes written and not yet taken, roughly. */
  waiting(): number;
  /** What was written since the last time. */
  take(): Uint8Array;
  /** As `take`, of what is left, and with whatever the format ends with. */
  finish(): Uint8Array;
}
