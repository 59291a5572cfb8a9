import { LATE, within } from '../../shared/async/within.ts';

/** What another process may ask for, by name. */
type Answers = Readonly<Record<string, (...args: never[]) => unknown>>;

interface ChannelWay {
  readonly send: (message: object) => void;
  readonly listen: (onMessage: (message: unknown) => void) => void;
  /** Milliseconds for an answer. */
  readonly timeoutMs: number;
}

/** A question has a name, and its answer has none. */
interface Message {
  readonly id: number;
  readonly name?: string;
  readonly args: readonly never[];
  readonly answer?: unknown;
}

/** Opens one end of a channel on which two processes ask each other. Whoever fails to answer is late. */
export function openChannel(answers: Answers, { send, listen, timeoutMs }: ChannelWay) {
  const waiting = new Map<number, (answer: unknown) => void>();
  let asked = 0;
  let isClosed = false;

  listen(async (message) => {
    const { id, name, args, answer } = message as Message;
    if (name === undefined) return waiting.get(id)?.(answer);
    try {
      send({ id, answer: await answers[name]?.(...args) });
    } catch {
      // The other process knows by the time.
    }
  });

  return {
    /** @throws Error if the other process has gone, or doesn't answer in time */
    async ask(name: string, ...args: readonly unknown[]): Promise<unknown> {
      asked += 1;
      const id = asked;
      const { promise, resolve } = Promise.withResolvers<unknown>();
      waiting.set(id, resolve);
      if (isClosed) resolve(LATE);
      else send({ id, name, args });
      const answer = await within(timeoutMs, promise, LATE);
      waiting.delete(id);
      if (answer === LATE) throw new Error(`The other process has not answered ${name}.`);
      return answer;
    },
    /** Fails all questions that are waiting, and all that are asked from now on. */
    close() {
      isClosed = true;
      for (const resolve of waiting.values()) resolve(LATE);
    },
  };
}
