/** Kinds of faults. */
export type FaultKind =
  /** The answer comes, `ms` later. */
  | { kind: 'latency'; ms: number }
  /** The answer comes once this is fulfilled. */
  | { kind: 'paused'; until: Promise<unknown> }
  /** Another status; the body is `{detail}` unless given: a string is sent as text, all else as JSON. */
  | { kind: 'status'; status: number; body?: unknown }
  /** The socket is destroyed before a reply. */
  | { kind: 'reset' }
  /** No reply, ever. */
  | { kind: 'hang' }
  /** Headers at once, the body in chunks of `bytes` (64 unless given), `ms` apart. */
  | { kind: 'drip'; ms: number; bytes?: number }
  /** 200 with a page of HTML that says it is JSON. */
  | { kind: 'garbage' }
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the body it rewrites.
  | { kind: 'shape'; patch: (body: any) => unknown }
  /** The whole length promised, half of it sent, then the socket destroyed. */
  | { kind: 'cut' };

export type Fault = FaultKind & {
  /** Template of the one route that has it, such as `/v1/data`; every route if it is left out. */
  route?: string;
  /** Number of requests that meet it before it goes away; without end if it is left out. */
  times?: number;
  /** Filter of requests by their query: others don't meet it. */
  when?: (query: Readonly<Record<string, string>>) => boolean;
};

interface MetFaults {
  readonly delayMs: number;
  readonly pauses: readonly Promise<unknown>[];
  readonly fault: Fault | null;
}

/**
 * The faults switched on. A request meets the first one set that concerns it, so that faults with `times`
 * follow each other; `latency` and `paused` delay it and let the next one through. Only requests that were let in and
 * counted meet faults: the service bills requests that it fails to answer.
 */
export class Faults {
  #set: { fault: Fault; left: number }[] = [];

  /** Switches a fault on, and returns the function that switches it off. */
  set(fault: Fault): () => void {
    const entry = { fault, left: fault.times ?? Number.POSITIVE_INFINITY };
    this.#set.push(entry);
    return () => {
      this.#set = this.#set.filter((other) => other !== entry);
    };
  }

  clear(): void {
    this.#set = [];
  }

  /** The delays and the fault that a request meets, each used up once. */
  meet(route: string, query: Readonly<Record<string, string>>): MetFaults {
    let delayMs = 0;
    const pauses: Promise<unknown>[] = [];
    let met: Fault | null = null;
    for (const entry of this.#set) {
      const { fault } = entry;
      if (entry.left <= 0 || (fault.route ?? route) !== route || !(fault.when?.(query) ?? true)) continue;
      entry.left--;
      if (fault.kind === 'latency') delayMs += fault.ms;
      else if (fault.kind === 'paused') pauses.push(fault.until);
      else {
        met = fault;
        break;
      }
    }
    this.#set = this.#set.filter((entry) => entry.left > 0);
    return { delayMs, pauses, fault: met };
  }
}
