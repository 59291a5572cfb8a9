/** Questions that the process at the other end may ask, by name. */
export type Answers = Readonly<Record<string, (...args: never[]) => unknown>>;

/** Questions and answers between two processes. */
export interface Channel {
  /** @throws Error if the other end fails, has gone, or doesn't answer in time */
  ask(name: string, ...args: readonly unknown[]): Promise<unknown>;
  /** Fails all questions that are waiting, and all that are asked from now on. */
  close(): void;
}

export interface ChannelParts {
  /** Hands a message to the other end. */
  readonly send: (message: ChannelMessage) => void;
  /** Has messages of the other end handed over. */
  readonly listen: (onMessage: (message: unknown) => void) => void;
  readonly answers: Answers;
  /** Milliseconds that an answer may take. */
  readonly timeoutMs: number;
}

type ChannelMessage =
  | { readonly ask: number; readonly name: string; readonly args: readonly unknown[] }
  | { readonly answered: number; readonly value?: unknown; readonly fault?: string };

/** Questions that may be waiting at once: beyond that the other end is taken to be stuck. */
const MAX_WAITING = 10_000;

interface WaitingQuestion {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Opens one end. Messages that are none of its own are left to others. */
export function openChannel({ send, listen, answers, timeoutMs }: ChannelParts): Channel {
  const waiting = new Map<number, WaitingQuestion>();
  let asked = 0;
  let isClosed = false;

  function settle(id: number, use: (one: WaitingQuestion) => void): void {
    const one = waiting.get(id);
    if (one === undefined) return;
    waiting.delete(id);
    clearTimeout(one.timer);
    use(one);
  }

  async function answer(id: number, name: string, args: readonly unknown[]): Promise<void> {
    let message: ChannelMessage;
    try {
      const work = Object.hasOwn(answers, name) ? answers[name] : undefined;
      if (work === undefined) throw new Error(`Nobody answers ${name}.`);
      message = { answered: id, value: await work(...(args as never[])) };
    } catch (error) {
      message = { answered: id, fault: error instanceof Error ? error.message : String(error) };
    }
    if (!isClosed) send(message);
  }

  listen((message) => {
    if (typeof message !== 'object' || message === null) return;
    const { ask, answered } = message as { readonly ask?: unknown; readonly answered?: unknown };
    if (typeof ask === 'number') {
      const { name, args } = message as Extract<ChannelMessage, { ask: number }>;
      void answer(ask, name, args);
    } else if (typeof answered === 'number') {
      const { value, fault } = message as Extract<ChannelMessage, { answered: number }>;
      settle(answered, ({ resolve, reject }) =>
        fault === undefined ? resolve(value) : reject(new Error(fault)),
      );
    }
  });

  return {
    ask(name, ...args) {
      if (isClosed) return Promise.reject(new Error('The other process has gone.'));
      if (waiting.size >= MAX_WAITING)
        return Promise.reject(new Error('The other process answers too slowly.'));
      asked += 1;
      const id = asked;
      return new Promise((resolve, reject) => {
        const late = () =>
          settle(id, () => reject(new Error(`The other process took too long to answer ${name}.`)));
        waiting.set(id, { resolve, reject, timer: setTimeout(late, timeoutMs) });
        send({ ask: id, name, args });
      });
    },
    close() {
      isClosed = true;
      for (const id of [...waiting.keys()])
        settle(id, ({ reject }) => reject(new Error('The other process has gone.')));
    },
  };
}
