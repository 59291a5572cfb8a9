import type { PromiseOrValue } from './promises.ts';
import type { Flow } from './turns.ts';

/** What keeps bytes between two entries, such as a batch whose first answers are made. */
export interface Keeper {
  readonly keptBytes: number;
}

interface Entering {
  readonly flow: Flow;
  readonly bytes: number;
  /** Counts as long as it keeps any bytes. */
  readonly keeper?: Keeper | undefined;
}

interface Waiting extends Entering {
  readonly owner: object;
  readonly enter: () => void;
}

/**
 * Bounds the bytes of what is being made, by estimates: whatever doesn't fit beside the others waits until they leave. What
 * has entered never waits again, and whatever is too large by itself enters alone. So something always goes on. Next is
 * what keeps bytes, so that they can leave, and then the flow that has entered least lately.
 */
export class Room {
  readonly #mostBytes: number;
  readonly #bytes = new Map<object, number>();
  readonly #keepers = new Set<Keeper>();
  readonly #lastEntered = new WeakMap<Flow, number>();
  #waiting: Waiting[] = [];
  #entered = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Resolves once the owner has room; it must leave, even before that. */
  enter(owner: object, entering: Entering): PromiseOrValue<void> {
    const { bytes, keeper } = entering;
    if (keeper !== undefined) this.#keepers.add(keeper);
    const before = this.#bytes.get(owner);
    if (before !== undefined) {
      this.#bytes.set(owner, before + bytes);
      return;
    }
    if (this.#waiting.length === 0 && this.#fits(bytes)) {
      this.#admit(owner, entering);
      return;
    }
    return new Promise((enter) => this.#waiting.push({ ...entering, owner, enter }));
  }

  leave(owner: object): void {
    const left = this.#waiting.filter((one) => one.owner === owner);
    if (left.length > 0) this.#waiting = this.#waiting.filter((one) => one.owner !== owner);
    for (const { enter } of left) enter();
    if (!this.#bytes.delete(owner)) return;
    for (let next = this.#next(); next !== null && this.#fits(next.bytes); next = this.#next()) {
      const entering = next;
      this.#waiting = this.#waiting.filter((one) => one !== entering);
      this.#admit(entering.owner, entering);
      entering.enter();
    }
  }

  #admit(owner: object, { flow, bytes }: Entering): void {
    this.#entered += 1;
    this.#lastEntered.set(flow, this.#entered);
    this.#bytes.set(owner, (this.#bytes.get(owner) ?? 0) + bytes);
  }

  #fits(bytes: number): boolean {
    if (this.#bytes.size === 0) return true;
    let sum = bytes;
    for (const held of this.#bytes.values()) sum += held;
    for (const keeper of this.#keepers) {
      if (keeper.keptBytes === 0) this.#keepers.delete(keeper);
      else sum += keeper.keptBytes;
    }
    return sum <= this.#mostBytes;
  }

  #next(): Waiting | null {
    const rankOf = ({ flow }: Waiting) => this.#lastEntered.get(flow) ?? 0;
    const keeps = ({ keeper }: Waiting) => (keeper?.keptBytes ?? 0) > 0;
    let best: Waiting | null = null;
    for (const one of this.#waiting) {
      const order =
        best === null ? -1 : Number(keeps(best)) - Number(keeps(one)) || rankOf(one) - rankOf(best);
      if (order < 0) best = one;
    }
    return best;
  }
}
