/** One value to hold: anything that JSON can say. */
export interface StoreEntry {
  readonly key: string;
  readonly value: unknown;
}
