/** Takes the rows of a table, one at a time. */
export interface TableWriter {
  add(row: readonly unknown[]): void;
  /** Bytes written and not yet taken, roughly. */
  waiting(): number;
  /** Takes the bytes written since the last time. */
  take(): Uint8Array;
  /** Takes the rest as `take` does, and with the end of the format. */
  finish(): Uint8Array;
}
