import { Cancellation } from '../async/cancellation.ts';
import { Idleness } from './live-results.ts';

/** The beginning of a message that is a result. */
const RESULT = 'event: next';

/** The results on their way to one reader: the next is made once it has taken the last. */
export class Outflow {
  readonly gone = new Cancellation();
  readonly idleness: Idleness;
  #results = 0;
  readonly #waiting: (() => void)[] = [];

  /** @param onIdle called when nobody has made use of it for long */
  constructor(idleMs: number, onIdle: () => void) {
    this.idleness = new Idleness(idleMs, onIdle);
  }

  readonly add = () => {
    this.#results += 1;
  };

  /** Notes that the reader has taken a message. */
  taken(message: string): void {
    if (message.startsWith(RESULT)) this.#results -= 1;
    if (this.#results === 0) this.#goOn();
  }

  readonly empty = async () => {
    while (this.#results > 0 && !this.gone.aborted) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  };

  close(): void {
    this.idleness.stop();
    this.gone.abort();
    this.#goOn();
  }

  #goOn(): void {
    for (const goOn of this.#waiting.splice(0)) goOn();
  }
}
