/** The beginning of an outage of the store, or its end; each is reported once. */
export class StoreOutage extends Error {
  readonly isOver: boolean;

  constructor(message: string, isOver: boolean, options?: ErrorOptions) {
    super(message, options);
    this.isOver = isOver;
  }
}
